import { spendWork } from "../limits.ts";
import { concatLists } from "./lists.ts";
import { List, type Result, type Value, ValueMap } from "./value.ts";

/** A decoded document. Integers beyond 2^53 are bigint. */
export type Json = string | number | bigint | boolean | null | readonly Json[] | JsonFields;
export interface JsonFields {
  readonly [name: string]: Json;
}

/** Makes a value of a document whose schema is not known; nothing is copied. Whole numbers are int, others double. */
export function jsonValue(json: Json): Value {
  switch (typeof json) {
    case "number":
      return Number.isInteger(json) ? BigInt(json) : json;
    case "object":
      if (json === null) return null;
      return isJsonList(json) ? new JsonList(json) : new JsonMap(json);
    default:
      return json;
  }
}

export function isJsonList(json: Json | undefined): json is readonly Json[] {
  return Array.isArray(json);
}

export function isJsonFields(json: Json | undefined): json is JsonFields {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

/** A list in a document. `convert` makes the value of an item when it is read. */
export class JsonList extends List {
  readonly #items: readonly Json[];
  readonly #convert: (item: Json) => Value;

  constructor(items: readonly Json[], convert: (item: Json) => Value = jsonValue) {
    super();
    this.#items = items;
    this.#convert = convert;
  }

  get size(): number {
    return this.#items.length;
  }

  at(index: number): Result {
    return this.#convert(this.#items[index] ?? null);
  }

  concat(other: List): List {
    return concatLists(this, other);
  }
}

class JsonMap extends ValueMap {
  readonly #fields: JsonFields;

  constructor(fields: JsonFields) {
    super();
    this.#fields = fields;
  }

  get size(): number {
    return Object.keys(this.#fields).length;
  }

  find(key: Value): Result | undefined {
    if (typeof key !== "string" || !Object.hasOwn(this.#fields, key)) return undefined;
    return jsonValue(this.#fields[key] ?? null);
  }

  keys(): Iterable<string> {
    return Object.keys(this.#fields);
  }
}

/** Compares two documents; the order of fields does not count. */
export function equalJson(a: Json | undefined, b: Json | undefined): boolean {
  spendWork(1);
  if (a === b) return true;
  if (isJsonList(a)) return isJsonList(b) && a.length === b.length && a.every((item, at) => equalJson(item, b[at]));
  if (!isJsonFields(a) || !isJsonFields(b)) return false;
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => Object.hasOwn(b, name) && equalJson(a[name], b[name]));
}
