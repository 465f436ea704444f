import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import { keepGivenEmpty } from "../schema/given-empty.ts";

/** A rule of `x-kubernetes-validations`. */
export interface SchemaRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

/** An `openAPIV3Schema`, or a node of one. Bounds are plain numbers; a field that is not set is absent. */
export interface OpenApiSchema {
  readonly id?: string;
  readonly $schema?: string;
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string;
  readonly format?: string;
  readonly title?: string;
  readonly default?: JsonValue;
  readonly maximum?: number;
  readonly exclusiveMaximum?: boolean;
  readonly minimum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly maxLength?: number;
  readonly minLength?: number;
  readonly pattern?: string;
  readonly maxItems?: number;
  readonly minItems?: number;
  readonly uniqueItems?: boolean;
  readonly multipleOf?: number;
  readonly enum?: readonly JsonValue[];
  readonly maxProperties?: number;
  readonly minProperties?: number;
  readonly required?: readonly string[];
  readonly items?: OpenApiSchema;
  /** Schemas of single items, which structural schemas do not have. */
  readonly itemSchemas?: readonly OpenApiSchema[];
  readonly allOf?: readonly OpenApiSchema[];
  readonly oneOf?: readonly OpenApiSchema[];
  readonly anyOf?: readonly OpenApiSchema[];
  readonly not?: OpenApiSchema;
  readonly properties?: SchemaMap;
  readonly additionalProperties?: OpenApiSchema | boolean;
  readonly patternProperties?: SchemaMap;
  /** Schemas of the dependencies; a dependency that lists names has an empty one. */
  readonly dependencies?: SchemaMap;
  /** The names of dependencies that list names. */
  readonly dependencyNames?: Readonly<Record<string, readonly string[]>>;
  readonly additionalItems?: OpenApiSchema | boolean;
  readonly definitions?: SchemaMap;
  readonly externalDocs?: JsonObject;
  readonly example?: JsonValue;
  readonly nullable?: boolean;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-embedded-resource"?: boolean;
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-list-type"?: string;
  readonly "x-kubernetes-map-type"?: string;
  readonly "x-kubernetes-validations"?: readonly SchemaRule[];
}

/** Schemas by name, without a prototype, so that any name is safe. */
export type SchemaMap = Readonly<Record<string, OpenApiSchema>>;

export interface ReadOptions {
  /** Leaves out descriptions, which are more than half of a typical schema. */
  readonly dropsTexts?: boolean;
}

/** Limit of the nesting of schemas; deeper ones are left out. The decoder of documents rejects them earlier. */
const depthMax = 512;

type Reader = (value: JsonValue, options: ReadOptions, depth: number) => unknown;

const text: Reader = (value) => (typeof value === "string" ? value : undefined);
const set: Reader = (value) => (typeof value === "string" && value !== "" ? value : undefined);
const flag: Reader = (value) => (value === true ? true : undefined);
const number: Reader = (value) => (typeof value === "number" || typeof value === "bigint" ? Number(value) : undefined);
const anything: Reader = (value) => value;
const forReaders: Reader = (value, { dropsTexts }) => (dropsTexts === true || value === "" ? undefined : value);
const list: Reader = (value) => (Array.isArray(value) ? value : undefined);
const names: Reader = (value) =>
  Array.isArray(value) && value.length > 0 ? value.filter((name) => typeof name === "string") : undefined;
const schema: Reader = (value, options, depth) => readNode(value, options, depth);
const schemas: Reader = (value, options, depth) =>
  Array.isArray(value) && value.length > 0 ? value.flatMap((part) => readNode(part, options, depth) ?? []) : undefined;
const schemaOrFlag: Reader = (value, options, depth) =>
  typeof value === "boolean" ? value : readNode(value, options, depth);
const dependencySchemas: Reader = (value, options, depth) =>
  readMap(value, (part) => readNode(part, options, depth) ?? {});
const schemaMap: Reader = (value, options, depth) => readMap(value, (part) => readNode(part, options, depth));

const readers: Readonly<Record<Exclude<keyof OpenApiSchema, "itemSchemas" | "dependencyNames">, Reader>> = {
  id: set,
  $schema: set,
  $ref: text,
  description: forReaders,
  type: set,
  format: set,
  title: forReaders,
  default: (value) => value ?? undefined,
  maximum: number,
  exclusiveMaximum: flag,
  minimum: number,
  exclusiveMinimum: flag,
  maxLength: number,
  minLength: number,
  pattern: set,
  maxItems: number,
  minItems: number,
  uniqueItems: flag,
  multipleOf: number,
  enum: list,
  maxProperties: number,
  minProperties: number,
  required: names,
  items: schema,
  allOf: schemas,
  oneOf: schemas,
  anyOf: schemas,
  not: schema,
  properties: schemaMap,
  additionalProperties: schemaOrFlag,
  patternProperties: schemaMap,
  dependencies: dependencySchemas,
  additionalItems: schemaOrFlag,
  definitions: schemaMap,
  externalDocs: forReaders,
  example: (value, { dropsTexts }) => (dropsTexts === true ? undefined : value),
  nullable: flag,
  "x-kubernetes-preserve-unknown-fields": (value) => (typeof value === "boolean" ? value : undefined),
  "x-kubernetes-embedded-resource": flag,
  "x-kubernetes-int-or-string": flag,
  "x-kubernetes-list-map-keys": names,
  "x-kubernetes-list-type": text,
  "x-kubernetes-map-type": text,
  "x-kubernetes-validations": (value) =>
    Array.isArray(value) && value.length > 0 ? value.flatMap(readRule) : undefined,
};
const ruleReaders: Readonly<Record<keyof SchemaRule, Reader>> = {
  rule: anything,
  message: set,
  messageExpression: set,
  reason: text,
  fieldPath: set,
  optionalOldSelf: (value) => (typeof value === "boolean" ? value : undefined),
};

/** Reads a schema from JSON, with which it may share values. Parts of the wrong type count as absent. */
export function readOpenApiSchema(json: JsonValue | undefined, options: ReadOptions = {}): OpenApiSchema | undefined {
  return json === undefined ? undefined : readNode(json, options, 0);
}

function readNode(json: JsonValue, options: ReadOptions, depth: number): OpenApiSchema | undefined {
  if (!isJsonObject(json) || depth > depthMax) return undefined;
  const node: Record<string, unknown> = {};
  for (const key of Object.keys(json)) {
    const read = Object.hasOwn(readers, key) ? readers[key as keyof typeof readers] : undefined;
    const value = read?.(json[key] as JsonValue, options, depth + 1);
    if (value !== undefined) node[key] = value;
  }
  const { items, dependencies } = json;
  if (Array.isArray(items)) node["itemSchemas"] = schemas(items, options, depth + 1);
  if (isJsonObject(dependencies)) node["dependencyNames"] = readNames(dependencies);
  keepGivenEmpty(json, node);
  return node;
}

function readMap(
  value: JsonValue,
  read: (part: JsonValue) => OpenApiSchema | undefined,
): Record<string, OpenApiSchema> | undefined {
  if (!isJsonObject(value)) return undefined;
  const map = Object.create(null) as Record<string, OpenApiSchema>;
  for (const name of Object.keys(value)) {
    const part = read(value[name] as JsonValue);
    if (part !== undefined) map[name] = part;
  }
  return map;
}

function readNames(lists: JsonObject): Record<string, string[]> {
  const map = Object.create(null) as Record<string, string[]>;
  for (const name of Object.keys(lists)) {
    const list = lists[name];
    if (Array.isArray(list)) map[name] = list.filter((one) => typeof one === "string");
  }
  return map;
}

function readRule(json: JsonValue): SchemaRule[] {
  if (!isJsonObject(json)) return [];
  const rule: Record<string, unknown> = { rule: "" };
  for (const [key, read] of Object.entries(ruleReaders)) {
    const value = json[key] === undefined ? undefined : read(json[key], {}, 0);
    if (value !== undefined) rule[key] = value;
  }
  return [{ ...(rule as unknown as SchemaRule), rule: typeof rule["rule"] === "string" ? rule["rule"] : "" }];
}

/** Calls `visit` for a schema and every schema in it until a call returns true; reports whether one did. */
export function someSchema(root: OpenApiSchema | undefined, visit: (node: OpenApiSchema) => boolean): boolean {
  if (root === undefined) return false;
  if (visit(root)) return true;
  if (!Object.keys(root).some((field) => schemaFieldNames.has(field))) return false;
  // In the order in which upstream walks them.
  for (const field of schemaFields) {
    const value = root[field];
    if (value === undefined || typeof value === "boolean") continue;
    if (isOneSchema(field, value)) {
      if (someSchema(value, visit)) return true;
    } else if (Array.isArray(value)) {
      if (value.some((part: OpenApiSchema) => someSchema(part, visit))) return true;
    } else if (someOf(value as SchemaMap, visit)) return true;
  }
  return false;
}

const schemaFields = [
  "items",
  "itemSchemas",
  "allOf",
  "anyOf",
  "oneOf",
  "not",
  "properties",
  "additionalProperties",
  "patternProperties",
  "additionalItems",
  "definitions",
  "dependencies",
] as const;
/** Most schemas have none of these. */
const schemaFieldNames: ReadonlySet<string> = new Set(schemaFields);
type SchemaField = (typeof schemaFields)[number];
const singleFields: ReadonlySet<SchemaField> = new Set(["items", "not", "additionalProperties", "additionalItems"]);

function isOneSchema(field: SchemaField, _value: object): _value is OpenApiSchema {
  return singleFields.has(field);
}

function someOf(schemas: SchemaMap, visit: (node: OpenApiSchema) => boolean): boolean {
  for (const name of Object.keys(schemas)) {
    if (someSchema(schemas[name], visit)) return true;
  }
  return false;
}

/** Returns the schema of the values of a map. */
export function valuesOf({ additionalProperties }: OpenApiSchema): OpenApiSchema | undefined {
  return typeof additionalProperties === "object" ? additionalProperties : undefined;
}
