import { emptyJsonObject, isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";

/** Calls `found` for each reference in a part of a document. */
export function eachReference(value: JsonValue, found: (reference: string) => void): void {
  if (Array.isArray(value)) {
    for (const item of value) eachReference(item, found);
    return;
  }
  if (!isJsonObject(value)) return;
  for (const [key, item] of Object.entries(value)) {
    if (key === "$ref" && typeof item === "string") found(item);
    else eachReference(item, found);
  }
}

/** Copies a part of a document with other references. A reference unknown to `renamed` is unchanged. */
export function withReferences(object: JsonObject, renamed: ReadonlyMap<string, string>): JsonObject {
  return copied(object, renamed) as JsonObject;
}

function copied(value: JsonValue, renamed: ReadonlyMap<string, string>): JsonValue {
  if (Array.isArray(value)) return value.map((item) => copied(item, renamed));
  if (!isJsonObject(value)) return value;
  const copy = emptyJsonObject();
  for (const [key, item] of Object.entries(value)) {
    copy[key] = key === "$ref" && typeof item === "string" ? (renamed.get(item) ?? item) : copied(item, renamed);
  }
  return copy;
}
