import { isJsonObject, type JsonValue } from "../../api/json.ts";

/** Deeper documents are refused: every walk over a document recurses, and a patch can build depth cheaply. */
export const documentDepthMax = 1_000;

/**
 * Returns how deep a value nests, 0 for a scalar; `limit + 1` if it is deeper than `limit`. Never recurses past
 * `limit`.
 */
export function depthOf(value: JsonValue, limit: number): number {
  if (typeof value !== "object" || value === null) return 0;
  if (limit <= 0) return 1;
  let deepest = 0;
  for (const child of Array.isArray(value) ? value : Object.values(value)) {
    const depth = depthOf(child, limit - 1);
    if (depth > deepest) deepest = depth;
    if (deepest >= limit) return limit + 1;
  }
  return deepest + 1;
}

/** Bytes of the value as compact JSON. */
export function jsonByteLength(value: JsonValue): number {
  if (typeof value === "string") return Buffer.byteLength(JSON.stringify(value));
  if (Array.isArray(value)) {
    return value.reduce<number>((sum, item) => sum + jsonByteLength(item) + 1, value.length === 0 ? 2 : 1);
  }
  if (!isJsonObject(value)) return String(value).length;
  let sum = 1;
  for (const key of Object.keys(value)) {
    sum += Buffer.byteLength(JSON.stringify(key)) + jsonByteLength(value[key] as JsonValue) + 2;
  }
  return sum === 1 ? 2 : sum;
}
