import type { Writer } from "protobufjs/minimal.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
import { stringifyJson } from "../../api/codec/json.ts";
import { newWriter } from "../../api/codec/protobuf-writer.ts";

/**
 * Swagger 2.0 as the protobuf message `openapi.v2.Document`, in which kubectl asks for it. Only what our document
 * contains is covered; an unknown key of a message is our mistake and throws.
 */
export function encodeSwagger(document: JsonObject): Uint8Array {
  const writer = newWriter();
  documentMessage(writer, document);
  return writer.finish();
}

type Write = (writer: Writer, value: JsonValue) => void;
type Fields = Readonly<Record<string, readonly [number: number, write: (number: number) => Write]>>;

const bytesType = 2;
const varintType = 0;

const text =
  (number: number): Write =>
  (writer, value) => {
    writer.uint32((number << 3) | bytesType).string(String(value));
  };
const texts =
  (number: number): Write =>
  (writer, value) =>
    each(value, (item) => text(number)(writer, item));
const flag =
  (number: number): Write =>
  (writer, value) => {
    if (value === true) writer.uint32((number << 3) | varintType).bool(true);
  };
const nested =
  (write: Write) =>
  (number: number): Write =>
  (writer, value) => {
    writer.uint32((number << 3) | bytesType).fork();
    write(writer, value);
    writer.ldelim();
  };
const nestedEach =
  (write: Write) =>
  (number: number): Write =>
  (writer, value) =>
    each(value, (item) => nested(write)(number)(writer, item));

/** A map as a message of pairs in field `pairs`. */
const pairs =
  (number: number, write: Write): Write =>
  (writer, value) => {
    if (!isJsonObject(value)) throw new Error("a map of the document is not an object");
    for (const [name, item] of Object.entries(value)) pair(number, name, write)(writer, item);
  };
const pair =
  (number: number, name: string, write: Write): Write =>
  (writer, value) => {
    writer.uint32((number << 3) | bytesType).fork();
    text(1)(writer, name);
    nested(write)(2)(writer, value);
    writer.ldelim();
  };

/** Any value as YAML text, of which JSON is a part. */
const anyValue: Write = (writer, value) => text(2)(writer, stringifyJson(value));

/** A struct message; keys that start with `x-` go to the field of extensions. */
function message(fields: () => Fields, extensions: number): Write {
  return (writer, value) => {
    if (!isJsonObject(value)) throw new Error("a message of the document is not an object");
    const known = fields();
    for (const [key, item] of Object.entries(value)) {
      if (key.startsWith("x-")) pair(extensions, key, anyValue)(writer, item);
      else writeKnown(known, key, writer, item);
    }
  };
}

function writeKnown(fields: Fields, key: string, writer: Writer, value: JsonValue): void {
  const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
  if (field === undefined) throw new Error(`${key} is not covered by the protobuf form of Swagger`);
  const [number, write] = field;
  write(number)(writer, value);
}

const schemaMessage: Write = message(() => schemaFields, 31);
const schemaFields: Fields = {
  $ref: [1, text],
  format: [2, text],
  description: [4, text],
  default: [5, nested(anyValue)],
  required: [19, texts],
  enum: [20, nestedEach(anyValue)],
  additionalProperties: [21, nested(nested((writer, value) => schemaMessage(writer, value))(1))],
  type: [22, nested(text(1))],
  items: [23, nested(nested((writer, value) => schemaMessage(writer, value))(1))],
  properties: [25, nested(pairs(1, (writer, value) => schemaMessage(writer, value)))],
};

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

/** ParametersItem → Parameter → body or, one level deeper, the place where it stands. */
const parameterItem: Write = (writer, value) => {
  const place = isJsonObject(value) ? value["in"] : undefined;
  if (place === "body") nested(nested(bodyParameter)(1))(1)(writer, value);
  else if (place === "query") nested(nested(nested(queryParameter)(3))(2))(1)(writer, value);
  else if (place === "path") nested(nested(nested(pathParameter)(4))(2))(1)(writer, value);
  else throw new Error(`a parameter in ${String(place)} is not covered by the protobuf form of Swagger`);
};

const responseMessage = message(() => ({ description: [1, text], schema: [2, nested(nested(schemaMessage)(1))] }), 5);

const operationMessage = message(
  () => ({
    tags: [1, texts],
    description: [3, text],
    operationId: [5, text],
    produces: [6, texts],
    consumes: [7, texts],
    parameters: [8, nestedEach(parameterItem)],
    responses: [9, nested(pairs(1, nested(responseMessage)(1)))],
    schemes: [10, texts],
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
/** SecurityDefinitionsItem: the one that is a key in a header. */
const apiKeyMessage = nested(
  message(() => ({ type: [1, text], name: [2, text], in: [3, text], description: [4, text] }), 5),
)(2);

const documentMessage = message(
  () => ({
    swagger: [1, text],
    info: [2, nested(infoMessage)],
    paths: [8, nested(pairs(2, pathItemMessage))],
    definitions: [9, nested(pairs(1, schemaMessage))],
    security: [12, nestedEach(requirementMessage)],
    securityDefinitions: [13, nested(pairs(1, apiKeyMessage))],
  }),
  16,
);

function each(value: JsonValue, write: (item: JsonValue) => void): void {
  if (!Array.isArray(value)) throw new Error("a list of the document is not a list");
  for (const item of value) write(item);
}
