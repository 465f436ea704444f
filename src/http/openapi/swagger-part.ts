import { parseJson } from "../../api/codec/json.ts";
import { emptyJsonObject, isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
import { objectOf } from "../../api/json-reading.ts";
import { eachReference } from "./references.ts";

/** Maximum number of values of a document, and of levels of its schemas. */
const valuesMax = 1_000_000;
const levelsMax = 100;

/** Paths of a Swagger document, and everything to which they refer. */
export interface SwaggerPart {
  readonly paths: ReadonlyMap<string, JsonObject>;
  readonly definitions: ReadonlyMap<string, JsonObject>;
  readonly parameters: ReadonlyMap<string, JsonObject>;
}

/** A Swagger document of an extension server. */
export interface Swagger extends SwaggerPart {
  readonly info: JsonObject;
}

export const definitionPrefix = "#/definitions/";
export const parameterPrefix = "#/parameters/";

/**
 * Reads a Swagger document. Uses only fields that all forms of our documents can have, each with the required type, so
 * that the rest of the server can rely on the result.
 * @throws Error for a document that is not an object, or is too large
 */
export function readSwagger(bytes: Uint8Array): Swagger {
  const { value } = parseJson(bytes, { strict: false, valuesMax });
  if (!isJsonObject(value)) throw new Error("the document is not an object");
  const { title = "", version = "" } = objectOf(info(value["info"] ?? {}, levelsMax));
  return {
    info: { title, version },
    paths: entriesOf(value["paths"], pathItem),
    definitions: entriesOf(value["definitions"], schema),
    parameters: entriesOf(value["parameters"], parameter),
  };
}

/** Returns the paths that satisfy a condition, with everything to which they refer. */
export function partOf(whole: SwaggerPart, isWanted: (path: string) => boolean): SwaggerPart {
  const paths = new Map([...whole.paths].filter(([path]) => isWanted(path)));
  const definitions = new Map<string, JsonObject>();
  const parameters = new Map<string, JsonObject>();
  const waiting: JsonValue[] = [...paths.values()];
  const take = (from: ReadonlyMap<string, JsonObject>, to: Map<string, JsonObject>, name: string) => {
    const found = from.get(name);
    if (found === undefined || to.has(name)) return;
    to.set(name, found);
    waiting.push(found);
  };
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    eachReference(next, (reference) => {
      if (reference.startsWith(definitionPrefix)) {
        take(whole.definitions, definitions, reference.slice(definitionPrefix.length));
      } else if (reference.startsWith(parameterPrefix)) {
        take(whole.parameters, parameters, reference.slice(parameterPrefix.length));
      }
    });
  }
  return { paths, definitions, parameters };
}

/** Copies a value that has the right form; undefined for any other. */
type Shape = (value: JsonValue, levels: number) => JsonValue | undefined;

const text: Shape = (value) => (typeof value === "string" ? value : undefined);
const flag: Shape = (value) => (typeof value === "boolean" ? value : undefined);
const number: Shape = (value) => (typeof value === "number" && Number.isFinite(value) ? value : undefined);
const anything: Shape = (value) => value;

function each(shape: Shape): Shape {
  return (value, levels) => {
    if (!Array.isArray(value)) return undefined;
    return value.map((item) => shape(item, levels)).filter((item) => item !== undefined);
  };
}

function mapOf(shape: Shape): Shape {
  return (value, levels) => {
    if (!isJsonObject(value)) return undefined;
    const copy = emptyJsonObject();
    for (const [key, item] of Object.entries(value)) {
      const copied = shape(item, levels);
      if (copied !== undefined) copy[key] = copied;
    }
    return copy;
  };
}

/** @param fields called when a value is found, because schemas contain schemas */
function struct(fields: () => Readonly<Record<string, Shape>>, hasExtensions: boolean): Shape {
  return (value, levels) => {
    if (!isJsonObject(value)) return undefined;
    if (levels === 0) throw new Error(`the document has more than ${levelsMax} levels`);
    const known = fields();
    const copy = emptyJsonObject();
    for (const [key, item] of Object.entries(value)) {
      const extension = hasExtensions && key.startsWith("x-") ? anything : undefined;
      const shape = Object.hasOwn(known, key) ? known[key] : extension;
      const copied = shape?.(item, levels - 1);
      if (copied !== undefined) copy[key] = copied;
    }
    return copy;
  };
}

/** The type is a text here, as in the documents of Go servers. */
const typeName: Shape = (value, levels) =>
  text(Array.isArray(value) && value.length === 1 ? (value[0] as JsonValue) : value, levels);

const info = struct(() => ({ title: text, version: text }), false);
const schema: Shape = struct(() => schemaFields, true);
const schemaFields: Readonly<Record<string, Shape>> = {
  $ref: text,
  format: text,
  title: text,
  description: text,
  default: anything,
  multipleOf: number,
  maximum: number,
  exclusiveMaximum: flag,
  minimum: number,
  exclusiveMinimum: flag,
  maxLength: number,
  minLength: number,
  pattern: text,
  maxItems: number,
  minItems: number,
  uniqueItems: flag,
  maxProperties: number,
  minProperties: number,
  required: each(text),
  enum: each(anything),
  additionalProperties: (value, levels) => flag(value, levels) ?? schema(value, levels),
  type: typeName,
  items: schema,
  allOf: each(schema),
  properties: mapOf(schema),
  externalDocs: struct(() => ({ description: text, url: text }), false),
  example: anything,
};

const body = struct(() => ({ description: text, name: text, in: text, required: flag, schema }), false);
const simple = struct(
  () => ({ required: flag, in: text, description: text, name: text, type: typeName, uniqueItems: flag }),
  false,
);
const reference = struct(() => ({ $ref: text }), false);

/** Parameters of other places do not occur in our documents. */
const parameter: Shape = (value, levels) => {
  const { $ref, in: place } = objectOf(value);
  if (typeof $ref === "string") return reference(value, levels);
  if (place === "body") return body(value, levels);
  return place === "query" || place === "path" ? simple(value, levels) : undefined;
};

const response = struct(() => ({ description: text, schema }), true);
const operation = struct(
  () => ({
    tags: each(text),
    summary: text,
    description: text,
    operationId: text,
    produces: each(text),
    consumes: each(text),
    parameters: each(parameter),
    responses: mapOf(response),
    schemes: each(text),
    deprecated: flag,
  }),
  true,
);
const methods = ["get", "put", "post", "delete", "options", "head", "patch"];
const pathItem = struct(
  () => ({ ...Object.fromEntries(methods.map((method) => [method, operation])), parameters: each(parameter) }),
  true,
);

function entriesOf(value: JsonValue | undefined, shape: Shape): ReadonlyMap<string, JsonObject> {
  const copied = mapOf(shape)(value ?? {}, levelsMax);
  return new Map(
    Object.entries(objectOf(copied)).filter((entry): entry is [string, JsonObject] => isJsonObject(entry[1])),
  );
}
