import { equalJson, isJsonObject, type JsonValue } from "../json.ts";
import { itemKey } from "./list-keys.ts";
import { type OpenApiSchema, valuesOf } from "./open-api-schema.ts";

/**
 * A value of an update and the old value it corresponds to. Properties correspond by name and items of keyed lists by
 * key; items of other lists correspond to nothing.
 */
export class Correlation {
  readonly #value: JsonValue;
  readonly #old: JsonValue;
  readonly #schema: OpenApiSchema;
  #isEqual: boolean | undefined;
  #oldItems: Map<string, JsonValue> | undefined;
  readonly #children = new Map<string | number, Correlation>();

  constructor(value: JsonValue, old: JsonValue, schema: OpenApiSchema) {
    this.#value = value;
    this.#old = old;
    this.#schema = schema;
  }

  /** Returns the correlation of a property; undefined without an old value or a schema. */
  property(name: string): Correlation | undefined {
    const known = this.#children.get(name);
    if (known !== undefined) return known;
    if (!isJsonObject(this.#value) || !isJsonObject(this.#old)) return undefined;
    if (!Object.hasOwn(this.#value, name) || !Object.hasOwn(this.#old, name)) return undefined;
    const schema = this.#schema.properties?.[name] ?? valuesOf(this.#schema);
    if (schema === undefined) return undefined;
    return this.#keep(name, this.#value[name] as JsonValue, this.#old[name] as JsonValue, schema);
  }

  /** Returns the correlation of an item; undefined if its list has no keys, or no old item had the same. */
  item(at: number): Correlation | undefined {
    const known = this.#children.get(at);
    if (known !== undefined) return known;
    const { items } = this.#schema;
    if (this.#schema["x-kubernetes-list-type"] !== "map" || items === undefined) return undefined;
    if (!Array.isArray(this.#value) || !Array.isArray(this.#old)) return undefined;
    const keys = this.#schema["x-kubernetes-list-map-keys"] ?? [];
    this.#oldItems ??= itemsByKey(this.#old, keys);
    const item = this.#value[at] as JsonValue;
    const old = this.#oldItems.get(itemKey(item, keys) ?? "");
    return old === undefined ? undefined : this.#keep(at, item, old, items);
  }

  /** Reports whether nothing has changed here or below. A value without an old one has changed. */
  isUnchanged(): boolean {
    this.#isEqual ??= this.#compare();
    return this.#isEqual;
  }

  #compare(): boolean {
    const [value, old] = [this.#value, this.#old];
    if (Array.isArray(value) && Array.isArray(old)) {
      if (value.length !== old.length) return false;
      if (this.#schema["x-kubernetes-list-type"] !== "map") return equalJson(value, old);
      return value.every((_, at) => this.item(at)?.isUnchanged() ?? false);
    }
    if (!isJsonObject(value) || !isJsonObject(old)) return equalJson(value, old);
    const names = Object.keys(value);
    if (names.length !== Object.keys(old).length) return false;
    return names.every((name) => this.property(name)?.isUnchanged() ?? false);
  }

  #keep(place: string | number, value: JsonValue, old: JsonValue, schema: OpenApiSchema): Correlation {
    const child = new Correlation(value, old, schema);
    this.#children.set(place, child);
    return child;
  }
}

function itemsByKey(list: readonly JsonValue[], keys: readonly string[]): Map<string, JsonValue> {
  const items = new Map<string, JsonValue>();
  for (const item of list) {
    const key = itemKey(item, keys);
    if (key !== undefined && !items.has(key)) items.set(key, item);
  }
  return items;
}
