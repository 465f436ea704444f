import { isJsonObject, type JsonObject, type JsonValue } from "./json.ts";

/** Readers of values that may be missing or, in objects stored before a change of type, of another type. */

const nothing: JsonObject = Object.freeze(Object.create(null) as JsonObject);

export function isPresent(value: JsonValue | undefined): value is JsonValue {
  return value !== undefined && value !== null;
}

/** Returns "" for a value of another type. */
export function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

/** Returns 0 for a value of another type. Integers beyond 2^53 lose their last digits. */
export function numberOf(value: JsonValue | undefined): number {
  return typeof value === "number" || typeof value === "bigint" ? Number(value) : 0;
}

/** Returns an empty object, which cannot be changed, for a value of another type. */
export function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : nothing;
}

/** Returns an empty list for a value of another type. */
export function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the items of a list that are objects. */
export function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** Returns a text for each item of a list. */
export function textsOf(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.map(textOf) : [];
}

/** Counts the items of a list or the keys of an object. */
export function sizeOf(value: JsonValue | undefined): number {
  if (Array.isArray(value)) return value.length;
  return isJsonObject(value) ? Object.keys(value).length : 0;
}
