import { parseGoDuration } from "../../api/go-duration.ts";
import { wordedDuration } from "../../api/worded-duration.ts";
import type { ComparesItself } from "../values/equality.ts";
import { equalResults } from "../values/equality.ts";
import { equalJson, isJsonFields, isJsonList, type Json, type JsonFields, jsonValue } from "../values/json-value.ts";
import type { FindsItself } from "../values/lists.ts";
import { itemsOf } from "../values/lists.ts";
import { entriesOf } from "../values/maps.ts";
import { parseTimestamp } from "../values/time-text.ts";
import {
  Duration,
  EvaluationError,
  isError,
  List,
  noSuchOverload,
  type Result,
  Timestamp,
  typeOfValue,
  type Value,
  ValueMap,
} from "../values/value.ts";
import { escapeFieldName, unescapeFieldName } from "./field-name.ts";
import { asResource, type RuleSchema, valuesSchema } from "./rule-schema.ts";
import { goTimeError } from "./time-layout.ts";

const notOfType = (expected: string, json: Json) =>
  new EvaluationError(`invalid data, expected ${expected}, got ${goTypeName(json)}`);

/**
 * Makes a value of JSON with the type of its schema. Nothing is copied. A part that does not fit the schema is an error
 * when it is read.
 */
export function typedValue(json: Json, schema: RuleSchema): Result {
  if (json === null) {
    return schema.nullable === true
      ? null
      : new EvaluationError("invalid data, got null for schema with nullable=false");
  }
  if (schema["x-kubernetes-int-or-string"] === true) return intOrString(json);
  switch (schema.type) {
    case "object":
      if (isJsonFields(json)) return objectValue(json, schema);
      return new EvaluationError("invalid data, expected a map for the provided schema with type=object");
    case "array":
      return listValue(json, schema);
    case "string":
      return typeof json === "string" ? textValue(json, schema.format) : notOfType("string", json);
    case "number":
      return typeof json === "number" || typeof json === "bigint" ? Number(json) : notOfType("float", json);
    case "integer":
      return isWhole(json) ? BigInt(json) : notOfType("int", json);
    case "boolean":
      return typeof json === "boolean" ? json : notOfType("bool", json);
    default:
      if (schema["x-kubernetes-preserve-unknown-fields"] === true) return jsonValue(json);
      return new EvaluationError(`${untypedMessage}, got ${schema.type ?? ""}`);
  }
}

const untypedMessage =
  "invalid type, expected object, array, number, integer, boolean or string, or no type with x-kubernetes-int-or-string or " +
  "x-kubernetes-preserve-unknown-fields is true";

function isWhole(json: Json): json is number | bigint {
  return typeof json === "bigint" || (typeof json === "number" && Number.isInteger(json));
}

function goTypeName(json: Json): string {
  if (typeof json === "object") return isJsonList(json) ? "[]interface {}" : "map[string]interface {}";
  if (typeof json === "boolean") return "bool";
  if (typeof json === "string") return "string";
  return isWhole(json) ? "int64" : "float64";
}

function intOrString(json: Json): Result {
  if (typeof json === "string") return json;
  if (isWhole(json)) return BigInt(json);
  return new EvaluationError("invalid data, expected XIntOrString value to be either a string or integer");
}

function textValue(text: string, format: string | undefined): Result {
  switch (format) {
    case "duration": {
      const nanos = parseGoDuration(text) ?? wordedDuration(text);
      if (nanos !== undefined) return new Duration(nanos);
      return new EvaluationError(`Invalid duration ${text}: unable to parse ${text} as duration`);
    }
    case "date": {
      const time = dateOf(text);
      if (time !== undefined) return new Timestamp(time);
      return new EvaluationError(`Invalid date formatted string ${text}: ${goTimeError(text, "date")}`);
    }
    case "date-time": {
      const time = dateTimeOf(text);
      if (time !== undefined) return time;
      return new EvaluationError(`Invalid date-time formatted string ${text}: ${goTimeError(text, "date-time")}`);
    }
    case "byte":
      return bytesOf(text);
    default:
      return text;
  }
}

function dateOf(text: string): bigint | undefined {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) ? parseTimestamp(`${text}T00:00:00Z`)?.nanos : undefined;
}

function dateTimeOf(text: string): Timestamp | undefined {
  if (text === "") return new Timestamp(0n);
  const isLocal = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:[.,]\d+)?$/.test(text);
  const time = parseTimestamp(isLocal ? `${text}Z` : text);
  return time === undefined ? undefined : new Timestamp(time.nanos, time.zoneMinutes);
}

function bytesOf(text: string): Result {
  const compact = text.replaceAll(/[\r\n]/g, "");
  const isBase64 = compact.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(compact);
  if (isBase64) return new Uint8Array(Buffer.from(compact, "base64"));
  const position = /[^A-Za-z0-9+/]/.exec(text)?.index ?? text.length;
  const problem = `illegal base64 data at input byte ${position}`;
  return new EvaluationError(`Invalid byte formatted string ${text}: ${problem}`);
}

function objectValue(fields: JsonFields, schema: RuleSchema): Result {
  const isEmbedded = schema["x-kubernetes-embedded-resource"] === true;
  return new TypedMap(fields, isEmbedded ? asResource(schema) : schema);
}

/** An object or a map, seen through its schema. Fields that the schema does not know cannot be read. */
class TypedMap extends ValueMap implements ComparesItself {
  readonly fields: JsonFields;
  readonly #schema: RuleSchema;

  constructor(fields: JsonFields, schema: RuleSchema) {
    super();
    this.fields = fields;
    this.#schema = schema;
  }

  get size(): number {
    return Object.keys(this.fields).length;
  }

  #schemaOf(name: string): RuleSchema | undefined {
    const { properties } = this.#schema;
    if (properties === undefined) return valuesSchema(this.#schema);
    return Object.hasOwn(properties, name) ? properties[name] : undefined;
  }

  find(key: Value): Result | undefined {
    if (typeof key !== "string") return noSuchOverload;
    const isObject = this.#schema.properties !== undefined;
    const name = isObject ? unescapeFieldName(key) : key;
    if (name === undefined || !Object.hasOwn(this.fields, name)) return undefined;
    const json = this.fields[name] ?? null;
    if (isObject && json === null) return undefined;
    const schema = this.#schemaOf(name);
    return schema === undefined ? undefined : typedValue(json, schema);
  }

  *keys(): Generator<string> {
    const isObject = this.#schema.properties !== undefined;
    for (const name of Object.keys(this.fields)) {
      if (this.#schemaOf(name) !== undefined) yield isObject ? (escapeFieldName(name) ?? name) : name;
    }
  }

  equalsValue(other: Value): boolean | EvaluationError {
    if (!(other instanceof ValueMap)) return noSuchOverload;
    if (this.size !== other.size) return false;
    for (const [name, json] of Object.entries(this.fields)) {
      const equal =
        this.#schemaOf(name) === undefined ? equalUnknown(json, name, other) : this.#equalField(name, other);
      if (equal !== true) return equal;
    }
    return true;
  }

  #equalField(name: string, other: ValueMap): boolean | EvaluationError {
    const mine = this.find(name);
    const theirs = other.find(name);
    if (mine === undefined || theirs === undefined) return mine === theirs;
    return equalResults(mine, theirs);
  }
}

function equalUnknown(json: Json, name: string, other: ValueMap): boolean | EvaluationError {
  if (!(other instanceof TypedMap)) return noSuchOverload;
  return !Object.hasOwn(other.fields, name) || equalJson(json, other.fields[name]);
}

function listValue(json: Json, schema: RuleSchema): Result {
  if (!isJsonList(json)) {
    return new EvaluationError("invalid data, expected an array for the provided schema with type=array");
  }
  const { items } = schema;
  if (items === undefined) return new EvaluationError("invalid array type, expected Items with a non-empty Schema");
  const listType = schema["x-kubernetes-list-type"];
  switch (listType) {
    case "map": {
      const keys = schema["x-kubernetes-list-map-keys"] ?? [];
      return new KeyedList(
        json,
        items,
        keys.map((key) => escapeFieldName(key) ?? key),
      );
    }
    case "set":
      return new SetList(json, items);
    case undefined:
    case "":
    case "atomic":
      return new TypedList(json, items);
    default: {
      const kinds = "expected 'map', 'set' or 'atomic'";
      return new EvaluationError(`invalid x-kubernetes-list-type, ${kinds} but got ${listType}`);
    }
  }
}

/** A list, seen through the schema of its elements. */
class TypedList extends List implements ComparesItself, FindsItself {
  readonly elements: readonly Json[];
  protected readonly items: RuleSchema;

  constructor(elements: readonly Json[], items: RuleSchema) {
    super();
    this.elements = elements;
    this.items = items;
  }

  get size(): number {
    return this.elements.length;
  }

  at(index: number): Result {
    return typedValue(this.elements[index] ?? null, this.items);
  }

  concat(other: List): Result {
    return new TypedList([...this.elements, ...jsonElements(other)], this.items);
  }

  equalsValue(other: Value): boolean | EvaluationError {
    if (!(other instanceof List)) return noSuchOverload;
    if (this.size !== other.size) return false;
    for (let at = 0; at < this.size; at++) {
      const equal = equalResults(this.at(at), other.at(at));
      if (equal !== true) return equal;
    }
    return true;
  }

  containsValue(element: Value): Result {
    let error: EvaluationError | undefined;
    for (const item of itemsOf(this)) {
      const equal = equalResults(item, element);
      if (equal === true) return true;
      if (equal !== false) error ??= equal;
    }
    return error ?? false;
  }
}

/** A list whose order does not count. */
class SetList extends TypedList {
  #known: Set<string> | undefined;

  #members(): Set<string> {
    this.#known ??= new Set(this.elements.map(scalarKey));
    return this.#known;
  }

  override equalsValue(other: Value): boolean | EvaluationError {
    if (!(other instanceof List)) return noSuchOverload;
    if (this.size !== other.size) return false;
    const members = this.#members();
    for (const item of itemsOf(other)) {
      if (!members.has(valueKey(item))) return false;
    }
    return true;
  }

  override concat(other: List): Result {
    const members = this.#members();
    const added = jsonElements(other).filter((element) => {
      const key = scalarKey(element);
      if (members.has(key)) return false;
      members.add(key);
      return true;
    });
    return new SetList([...this.elements, ...added], this.items);
  }
}

/** A list of objects that are identified by some of their fields. Their order does not count. */
class KeyedList extends TypedList {
  readonly #keys: readonly string[];

  constructor(elements: readonly Json[], items: RuleSchema, keys: readonly string[]) {
    super(elements, items);
    this.#keys = keys;
  }

  #keyOf(element: Json): string {
    if (!isJsonFields(element)) return "";
    return this.#keys.map((key) => scalarKey(element[key] ?? null)).join("\u0000");
  }

  override equalsValue(other: Value): boolean | EvaluationError {
    if (!(other instanceof List)) return noSuchOverload;
    if (this.size !== other.size) return false;
    const byKey = new Map(this.elements.map((element) => [this.#keyOf(element), element]));
    for (const item of itemsOf(other)) {
      const mine = byKey.get(this.#keyOf(isError(item) ? null : toJson(item)));
      if (mine === undefined) return false;
      const equal = equalResults(typedValue(mine, this.items), item);
      if (equal !== true) return equal;
    }
    return true;
  }

  override concat(other: List): Result {
    const elements = [...this.elements];
    const places = new Map(elements.map((element, at) => [this.#keyOf(element), at]));
    for (const element of jsonElements(other)) {
      const place = places.get(this.#keyOf(element));
      if (place === undefined) elements.push(element);
      else elements[place] = element;
    }
    return new KeyedList(elements, this.items, this.#keys);
  }
}

/** Tells scalars apart with their types: 1 is not 1.0. */
function scalarKey(json: Json): string {
  if (isWhole(json)) return `int ${json}`;
  return typeof json === "object" ? JSON.stringify(json) : `${typeof json} ${json}`;
}

function valueKey(value: Result): string {
  if (typeof value === "bigint") return `int ${value}`;
  if (typeof value === "number") return `number ${value}${Number.isInteger(value) ? ".0" : ""}`;
  return isError(value) ? "" : scalarKey(toJson(value));
}

function jsonElements(list: List): Json[] {
  if (list instanceof TypedList) return [...list.elements];
  return [...itemsOf(list)].map((item) => (isError(item) ? null : toJson(item)));
}

/** Returns the document that a value is a view of, or one like it. */
function toJson(value: Value): Json {
  if (value instanceof TypedMap) return value.fields;
  if (value instanceof List) return jsonElements(value);
  if (value instanceof ValueMap) {
    const fields: Record<string, Json> = {};
    for (const [key, item] of entriesOf(value)) fields[String(key)] = isError(item) ? null : toJson(item);
    return fields;
  }
  if (value === null || typeof value !== "object") return value;
  return `${typeOfValue(value).name}`;
}
