import type { JsonObject, JsonValue } from "../api/json.ts";

/** Equality of documents. Does what `equalJson` does without a list of keys, which is most of the cost. */
export function equalValues(a: JsonValue, b: JsonValue): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a)) return Array.isArray(b) && equalItems(a, b);
  return !Array.isArray(b) && equalObjects(a, b);
}

export function equalItems(a: readonly JsonValue[], b: readonly JsonValue[]): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at++) {
    if (!equalValues(a[at] as JsonValue, b[at] as JsonValue)) return false;
  }
  return true;
}

/** Inherited properties do not count as values. */
function equalObjects(a: JsonObject, b: JsonObject): boolean {
  let surplus = 0;
  for (const key in a) {
    if (!equalValues(a[key] as JsonValue, b[key] as JsonValue)) return false;
    surplus++;
  }
  for (const _ in b) surplus--;
  return surplus === 0;
}

export function isEmptyObject(object: JsonObject): boolean {
  for (const _ in object) return false;
  return true;
}
