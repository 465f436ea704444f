import type { JsonValue } from "./json.ts";

/**
 * Values of one object: scalars, lists and objects. Every step of a write takes time in proportion to them, about 1 µs
 * each, and the event loop waits meanwhile. A CRD of 1.5 MB has fewer.
 */
export const objectValuesMax = 64_000;
/** An object with more values than this lets others have a turn between the steps of a write. */
export const ordinaryValuesMax = 5_000;

/** Whether a document has more than `limit` values. Looks no further than that. */
export function hasMoreValues(value: JsonValue, limit: number): boolean {
  return valuesLeft(value, limit) < 0;
}

/** The values of a document, or some number above `limit` when there are more. */
export function countValues(value: JsonValue, limit: number): number {
  return limit - valuesLeft(value, limit);
}

/** `limit` less the values; some negative number when there are more. */
function valuesLeft(value: JsonValue, limit: number): number {
  let left = limit - 1;
  if (typeof value !== "object" || value === null || left < 0) return left;
  if (Array.isArray(value)) {
    for (const item of value) {
      left = valuesLeft(item, left);
      if (left < 0) return left;
    }
    return left;
  }
  for (const key in value) {
    left = valuesLeft(value[key] as JsonValue, left);
    if (left < 0) return left;
  }
  return left;
}

/** A text or body of this length can be a large object; a shorter one is read in a moment. */
export const ordinaryBytesMax = 64 * 1024;
