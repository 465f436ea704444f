import { cloneJson, isJsonObject, type JsonObject, type JsonValue, shallowCopy } from "../api/json.ts";

/**
 * Copies an object or a stored body. Shares its managedFields, which are replaced and never changed in place: they are
 * the larger part of a small object, and what is known of a field set is kept by its identity.
 */
export function copyObject<T extends object>(object: T): T {
  return copyParts(object as JsonObject, (name, part) =>
    name === "metadata" && isJsonObject(part) ? copyParts(part, copyUnlessShared) : cloneJson(part),
  ) as T;
}

function copyUnlessShared(name: string, part: JsonValue): JsonValue {
  return name === "managedFields" ? part : cloneJson(part);
}

function copyParts(object: JsonObject, copyOf: (name: string, part: JsonValue) => JsonValue): JsonObject {
  const copy = shallowCopy(object);
  for (const name in object) {
    const part = object[name] as JsonValue;
    if (typeof part === "object") copy[name] = copyOf(name, part);
  }
  return copy;
}
