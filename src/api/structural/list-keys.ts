import { isJsonObject, type JsonValue } from "../json.ts";

/** Returns the key of an item of a keyed list; undefined if a key field is missing or not a scalar. */
export function itemKey(item: JsonValue, keys: readonly string[]): string | undefined {
  if (!isJsonObject(item)) return undefined;
  let text = "";
  for (const key of keys) {
    const value = item[key];
    if (value === undefined || value === null || typeof value === "object") return undefined;
    text += `${typeof value} ${value}\u0000`;
  }
  return text;
}
