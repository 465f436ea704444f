import type { Writer } from "protobufjs/minimal.js";
import { isJsonObject, type JsonValue } from "../../api/json.ts";
import {
  anyValue,
  double,
  type Fields,
  flag,
  integer,
  message,
  nested,
  nestedEach,
  pairs,
  text,
  texts,
  varintType,
  type Write,
} from "./protobuf-fields.ts";
import type { DocumentMessage, MessagePart } from "./protobuf-parts-writer.ts";

const referenceMessage = message(() => ({ $ref: [1, text], summary: [2, text], description: [3, text] }), undefined);

/** A message with two fields, of which one is set: the value itself, or a reference to it. */
function orReference(write: Write): Write {
  const [whole, reference] = [nested(write)(1), nested(referenceMessage)(2)];
  return (writer, value) => {
    if (isJsonObject(value) && value["$ref"] !== undefined) reference(writer, value);
    else whole(writer, value);
  };
}

const schemaOrReference: Write = orReference(message(() => schemaFields, 36));
const schemaFields: Fields = {
  nullable: [1, flag],
  readOnly: [3, flag],
  writeOnly: [4, flag],
  externalDocs: [6, nested(message(() => ({ description: [1, text], url: [2, text] }), 3))],
  example: [7, nested(anyValue)],
  deprecated: [8, flag],
  title: [9, text],
  multipleOf: [10, double],
  maximum: [11, double],
  exclusiveMaximum: [12, flag],
  minimum: [13, double],
  exclusiveMinimum: [14, flag],
  maxLength: [15, integer],
  minLength: [16, integer],
  pattern: [17, text],
  maxItems: [18, integer],
  minItems: [19, integer],
  uniqueItems: [20, flag],
  maxProperties: [21, integer],
  minProperties: [22, integer],
  required: [23, texts],
  enum: [24, nestedEach(anyValue)],
  type: [25, text],
  allOf: [26, nestedEach(schemaOrReference)],
  oneOf: [27, nestedEach(schemaOrReference)],
  anyOf: [28, nestedEach(schemaOrReference)],
  not: [29, nested(message(() => schemaFields, 36))],
  items: [30, nested(nested(schemaOrReference)(1))],
  properties: [31, nested(pairs(1, schemaOrReference))],
  additionalProperties: [32, nested(schemaOrFlag)],
  default: [33, nested(defaultValue)],
  description: [34, text],
  format: [35, text],
};

function schemaOrFlag(writer: Writer, value: JsonValue): void {
  if (typeof value === "boolean") writer.uint32((2 << 3) | varintType).bool(value);
  else nested(schemaOrReference)(1)(writer, value);
}

/** The message has no field for lists and objects, and stays empty for them. */
function defaultValue(writer: Writer, value: JsonValue): void {
  if (typeof value === "number") double(1)(writer, value);
  else if (typeof value === "boolean") writer.uint32((2 << 3) | varintType).bool(value);
  else if (typeof value === "string") text(3)(writer, value);
}

const parameterOrReference = orReference(
  message(
    () => ({
      name: [1, text],
      in: [2, text],
      description: [3, text],
      required: [4, flag],
      schema: [10, nested(schemaOrReference)],
    }),
    14,
  ),
);

const contentMessage = pairs(
  1,
  message(() => ({ schema: [1, nested(schemaOrReference)] }), 5),
);

const responseOrReference = orReference(
  message(() => ({ description: [1, text], content: [3, nested(contentMessage)] }), 5),
);

const bodyOrReference = orReference(
  message(() => ({ description: [1, text], content: [2, nested(contentMessage)], required: [3, flag] }), 4),
);

const operationMessage = message(
  () => ({
    tags: [1, texts],
    summary: [2, text],
    description: [3, text],
    operationId: [5, text],
    parameters: [6, nestedEach(parameterOrReference)],
    requestBody: [7, nested(bodyOrReference)],
    responses: [8, nested(pairs(2, responseOrReference))],
    deprecated: [10, flag],
  }),
  13,
);

const pathItemMessage = message(
  () => ({
    get: [4, nested(operationMessage)],
    put: [5, nested(operationMessage)],
    post: [6, nested(operationMessage)],
    delete: [7, nested(operationMessage)],
    options: [8, nested(operationMessage)],
    head: [9, nested(operationMessage)],
    patch: [10, nested(operationMessage)],
    parameters: [13, nestedEach(parameterOrReference)],
  }),
  14,
);

const securityScheme = message(() => ({ type: [1, text], description: [2, text], name: [3, text], in: [4, text] }), 9);

/** Encodes OpenAPI 3.0 as the message `openapi.v3.Document`. */
export const openApiV3Message: DocumentMessage = {
  fields: {
    openapi: [1, text],
    info: [2, nested(message(() => ({ title: [1, text], version: [6, text] }), 7))],
  },
  parts: new Map<string, MessagePart>([
    ["paths", { field: 4, content: { pairs: 1, write: pathItemMessage } }],
    [
      "components",
      {
        field: 5,
        content: {
          fields: { securitySchemes: [7, nested(pairs(1, orReference(securityScheme)))] },
          parts: new Map([["schemas", { field: 1, content: { pairs: 1, write: schemaOrReference } }]]),
        },
      },
    ],
  ]),
};
