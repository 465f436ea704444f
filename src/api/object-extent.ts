import { isJsonObject, type JsonObject, type JsonValue } from "./json.ts";

/**
 * Limit of the scalars, lists and objects in one object. Every step of a write takes about 1 µs for each and blocks the
 * event loop meanwhile. A CRD of 1.5 MB has fewer.
 */
export const objectValuesMax = 64_000;
/** Writes of objects with more values than this yield to other requests between their steps. */
export const ordinaryValuesMax = 5_000;

/** Reports whether a document has more than `limit` values, looking no further than that. */
export function hasMoreValues(value: JsonValue, limit: number): boolean {
  return valuesLeft(value, limit) < 0;
}

/**
 * Counts the values of an object as its writers know it: without the managedFields, which the server adds. Returns some
 * number above `limit` if there are more.
 */
export function countObjectValues(object: JsonObject, limit: number): number {
  const metadata = object["metadata"];
  if (!isJsonObject(metadata) || metadata["managedFields"] === undefined) return countValues(object, limit);
  const { managedFields: _added, ...written } = metadata;
  return countValues({ ...object, metadata: written }, limit);
}

/** Counts the values of a document; returns some number above `limit` if there are more. */
export function countValues(value: JsonValue, limit: number): number {
  return limit - valuesLeft(value, limit);
}

/** Returns `limit` minus the number of values; some negative number if there are more. */
function valuesLeft(value: JsonValue, limit: number): number {
  let left = limit - 1;
  if (typeof value !== "object" || value === null || left < 0) return left;
  if (Array.isArray(value)) {
    for (const item of value) {
      // Most values are scalars, which need no call.
      left = typeof item === "object" ? valuesLeft(item, left) : left - 1;
      if (left < 0) return left;
    }
    return left;
  }
  for (const key in value) {
    const item = value[key] as JsonValue;
    left = typeof item === "object" ? valuesLeft(item, left) : left - 1;
    if (left < 0) return left;
  }
  return left;
}

/** Texts and bodies of at least this length may be large objects; shorter ones are read quickly. */
export const ordinaryBytesMax = 64 * 1024;
