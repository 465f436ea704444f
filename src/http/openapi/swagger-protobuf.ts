import type { Writer } from "protobufjs/minimal.js";
import { isJsonObject, type JsonValue } from "../../api/json.ts";
import { stringifyJson } from "../../api/codec/json.ts";
import { newWriter } from "../../api/codec/protobuf-writer.ts";
import type { DocumentPart, PartsWriter } from "./document-part.ts";

/** A map of the document: its field, the field of its pairs, and how their values are written. */
interface Section {
  readonly field: number;
  readonly pairs: number;
  readonly write: Write;
}

/**
 * Writes Swagger 2.0 as the protobuf message `openapi.v2.Document`, in which kubectl asks for it. Only what our documents
 * contain is covered; an unknown key of a message is our mistake and throws.
 */
export class SwaggerWriter implements PartsWriter {
  readonly #chunks: Uint8Array[] = [];
  #section: { readonly name: string; readonly pairs: Uint8Array[] } | undefined;

  add({ path, value }: DocumentPart): void {
    const [first = "", name] = path;
    if (this.#section?.name !== first) this.#closeSection();
    const writer = newWriter();
    if (name === undefined) {
      writeKnown(documentFields, first, writer, value);
      this.#chunks.push(writer.finish());
    } else {
      const { pairs, write } = sectionOf(first);
      pair(pairs, name, write)(writer, value);
      this.#section ??= { name: first, pairs: [] };
      this.#section.pairs.push(writer.finish());
    }
  }

  finish(): Uint8Array {
    this.#closeSection();
    return Buffer.concat(this.#chunks);
  }

  #closeSection(): void {
    if (this.#section === undefined) return;
    const { name, pairs } = this.#section;
    this.#section = undefined;
    const bytes = pairs.reduce((sum, one) => sum + one.byteLength, 0);
    const { field } = sectionOf(name);
    this.#chunks.push(
      newWriter()
        .uint32((field << 3) | bytesType)
        .uint32(bytes)
        .finish(),
      ...pairs,
    );
  }
}

function sectionOf(name: string): Section {
  const section = documentSections.get(name);
  if (section === undefined) throw new Error(`${name} is not covered by the protobuf form of Swagger`);
  return section;
}

type Write = (writer: Writer, value: JsonValue) => void;
type Fields = Readonly<Record<string, readonly [number: number, write: (number: number) => Write]>>;

const bytesType = 2;
const varintType = 0;
const doubleType = 1;

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
const double =
  (number: number): Write =>
  (writer, value) => {
    writer.uint32((number << 3) | doubleType).double(Number(value));
  };
const integer =
  (number: number): Write =>
  (writer, value) => {
    writer.uint32((number << 3) | varintType).int64(Number(value));
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

/** Parameter → body or, one level deeper, the place where it stands. */
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

const documentFields: Fields = {
  swagger: [1, text],
  info: [2, nested(infoMessage)],
  security: [12, nestedEach(requirementMessage)],
  securityDefinitions: [13, nested(pairs(1, apiKeyMessage))],
};

const documentSections: ReadonlyMap<string, Section> = new Map([
  ["paths", { field: 8, pairs: 2, write: pathItemMessage }],
  ["definitions", { field: 9, pairs: 1, write: schemaMessage }],
  ["parameters", { field: 10, pairs: 1, write: parameterMessage }],
]);

function each(value: JsonValue, write: (item: JsonValue) => void): void {
  if (!Array.isArray(value)) throw new Error("a list of the document is not a list");
  for (const item of value) write(item);
}
