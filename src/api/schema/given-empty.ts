import { isJsonObject, type JsonValue, shallowCopy } from "../json.ts";
import type { Schema } from "./schema.ts";

/** The names of such fields, by the struct that has them. */
const emptyFields = new WeakMap<object, Set<string>>();

/**
 * Reports whether a list or map that is absent from a decoded struct came as an empty one. Nothing empty is stored, but
 * a request that gives it differs from one that does not: upstream's errors show `[]` or `{}` for it and null for an
 * unset one, and no default replaces it. Of all copies, only those of `cloneDecoded` still know it.
 */
export function isGivenEmpty(struct: object | undefined, field: string): boolean {
  return struct !== undefined && emptyFields.get(struct)?.has(field) === true;
}

/** Returns the names of all such fields. */
export function givenEmptyFields(struct: object): Iterable<string> {
  return emptyFields.get(struct) ?? [];
}

/** Reports whether a decoded value has such a field, without a default since, at any depth. */
export function hasGivenEmpty(value: JsonValue | undefined): boolean {
  if (Array.isArray(value)) return value.some(hasGivenEmpty);
  if (!isJsonObject(value)) return false;
  for (const field of givenEmptyFields(value)) if (value[field] === undefined) return true;
  return Object.values(value).some(hasGivenEmpty);
}

/** Notes that the field came as an empty list or map. */
export function noteGivenEmpty(struct: object, field: string): void {
  const fields = emptyFields.get(struct);
  if (fields === undefined) emptyFields.set(struct, new Set([field]));
  else fields.add(field);
}

/** Passes the notes about a struct on to the one that replaces it. */
export function keepGivenEmpty(from: object, to: object): void {
  for (const field of givenEmptyFields(from)) noteGivenEmpty(to, field);
}

/** Copies a decoded document together with what is noted about its structs. */
export function cloneDecoded<T extends JsonValue>(value: T): T {
  if (Array.isArray(value)) return value.map((item) => cloneDecoded(item)) as T;
  if (!isJsonObject(value)) return value;
  const copy = shallowCopy(value);
  for (const key in value) {
    const part = value[key] as JsonValue;
    if (typeof part === "object") copy[key] = cloneDecoded(part);
  }
  keepGivenEmpty(value, copy);
  return copy as T;
}

/** Reports whether a value is an empty list or map of a type that keeps both apart from unset. */
export function isEmptyCollection(schema: Schema, value: JsonValue): boolean {
  if (schema.kind === "list") return (value as JsonValue[]).length === 0;
  return schema.kind === "map" && Object.keys(value as object).length === 0;
}
