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

const schemaMessage: Write = message(() => schemaFields, 31);
const schemaFields: Fields = {
  $ref: [1, text],
  format: [2, text],
  title: [3, text],
  description: [4, text],
  default: [5, nested(anyValue)],
  multipleOf: [6, double],
  maximum: [7, double],
  exclusiveMaximum: [8, flag],
  minimum: [9, double],
  exclusiveMinimum: [10, flag],
  maxLength: [11, integer],
  minLength: [12, integer],
  pattern: [13, text],
  maxItems: [14, integer],
  minItems: [15, integer],
  uniqueItems: [16, flag],
  maxProperties: [17, integer],
  minProperties: [18, integer],
  required: [19, texts],
  enum: [20, nestedEach(anyValue)],
  additionalProperties: [21, nested(schemaOrFlag)],
  type: [22, nested(text(1))],
  items: [23, nested(nested((writer, value) => schemaMessage(writer, value))(1))],
  allOf: [24, nestedEach((writer, value) => schemaMessage(writer, value))],
  properties: [25, nested(pairs(1, (writer, value) => schemaMessage(writer, value)))],
  externalDocs: [29, nested(message(() => ({ description: [1, text], url: [2, text] }), 3))],
  example: [30, nested(anyValue)],
};

function schemaOrFlag(writer: Writer, value: JsonValue): void {
  if (typeof value === "boolean") writer.uint32((2 << 3) | varintType).bool(value);
  else nested(schemaMessage)(1)(writer, value);
}

const bodyParameter = message(
  () => ({
    description: [1, text],
    name: [2, text],
    in: [3, text],
    required: [4, flag],
    schema: [5, nested(schemaMessage)],
  }),
  6,
);
const queryParameter = message(
  () => ({
    required: [1, flag],
    in: [2, text],
    description: [3, text],
    name: [4, text],
    type: [6, text],
    uniqueItems: [20, flag],
  }),
  23,
);
const pathParameter = message(
  () => ({
    required: [1, flag],
    in: [2, text],
    description: [3, text],
    name: [4, text],
    type: [5, text],
    uniqueItems: [19, flag],
  }),
  22,
);

/** Parameter → body or, one level deeper, its location. */
const parameterMessage: Write = (writer, value) => {
  const place = isJsonObject(value) ? value["in"] : undefined;
  if (place === "body") nested(bodyParameter)(1)(writer, value);
  else if (place === "query") nested(nested(queryParameter)(3))(2)(writer, value);
  else if (place === "path") nested(nested(pathParameter)(4))(2)(writer, value);
  else throw new Error(`a parameter in ${String(place)} is not covered by the protobuf form of Swagger`);
};

/** ParametersItem → Parameter or JsonReference. */
const parameterItem: Write = (writer, value) => {
  const reference = isJsonObject(value) ? value["$ref"] : undefined;
  if (reference === undefined) nested(parameterMessage)(1)(writer, value);
  else nested((inner) => text(1)(inner, reference))(2)(writer, value);
};

const responseMessage = message(() => ({ description: [1, text], schema: [2, nested(nested(schemaMessage)(1))] }), 5);

const operationMessage = message(
  () => ({
    tags: [1, texts],
    summary: [2, text],
    description: [3, text],
    operationId: [5, text],
    produces: [6, texts],
    consumes: [7, texts],
    parameters: [8, nestedEach(parameterItem)],
    responses: [9, nested(pairs(1, nested(responseMessage)(1)))],
    schemes: [10, texts],
    deprecated: [11, flag],
  }),
  13,
);

const pathItemMessage = message(
  () => ({
    get: [2, nested(operationMessage)],
    put: [3, nested(operationMessage)],
    post: [4, nested(operationMessage)],
    delete: [5, nested(operationMessage)],
    options: [6, nested(operationMessage)],
    head: [7, nested(operationMessage)],
    patch: [8, nested(operationMessage)],
    parameters: [9, nestedEach(parameterItem)],
  }),
  10,
);

const infoMessage = message(() => ({ title: [1, text], version: [2, text] }), 7);

/** SecurityRequirement: names, each with a list of scopes. */
const requirementMessage = pairs(1, texts(1));
/** SecurityDefinitionsItem: the variant with a key in a header. */
const apiKeyMessage = nested(
  message(() => ({ type: [1, text], name: [2, text], in: [3, text], description: [4, text] }), 5),
)(2);

/** Encodes Swagger 2.0 as the message `openapi.v2.Document`, which kubectl requests. */
export const swaggerMessage: DocumentMessage = {
  fields: {
    swagger: [1, text],
    info: [2, nested(infoMessage)],
    security: [12, nestedEach(requirementMessage)],
    securityDefinitions: [13, nested(pairs(1, apiKeyMessage))],
  },
  parts: new Map<string, MessagePart>([
    ["paths", { field: 8, content: { pairs: 2, write: pathItemMessage } }],
    ["definitions", { field: 9, content: { pairs: 1, write: schemaMessage } }],
    ["parameters", { field: 10, content: { pairs: 1, write: parameterMessage } }],
  ]),
};
