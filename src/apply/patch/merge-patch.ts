import { emptyJsonObject, isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
import { status } from "../../api/status.ts";
import { depthOf, documentDepthMax } from "./document-depth.ts";
import { wrongDocument } from "./wrong-document.ts";

/**
 * Applies a patch of RFC 7386. The inputs are unchanged; the result shares with the document the parts that the patch
 * does not touch. Throws 400 if the patch is not an object or nests too deeply.
 */
export function applyMergePatch(document: JsonValue, patch: JsonValue): JsonObject {
  if (patch === null) throw status.badRequest("Invalid JSON Patch");
  if (!isJsonObject(patch)) throw wrongDocument(patch, "map[string]interface {}");
  if (depthOf(patch, documentDepthMax) > documentDepthMax) {
    throw status.badRequest("error decoding patch: exceeded max depth");
  }
  return merge(document, patch);
}

function merge(document: JsonValue | undefined, patch: JsonObject): JsonObject {
  const merged = emptyJsonObject();
  if (isJsonObject(document)) {
    for (const key of Object.keys(document)) {
      if (!Object.hasOwn(patch, key)) merged[key] = document[key] as JsonValue;
      else mergeKey(merged, key, document[key], patch[key] as JsonValue);
    }
  }
  for (const key of Object.keys(patch)) {
    const known = isJsonObject(document) && Object.hasOwn(document, key);
    if (!known) mergeKey(merged, key, undefined, patch[key] as JsonValue);
  }
  return merged;
}

function mergeKey(merged: JsonObject, key: string, value: JsonValue | undefined, patch: JsonValue): void {
  if (patch === null) return;
  merged[key] = isJsonObject(patch) ? merge(value, patch) : withoutNullFields(patch);
}

/** A list takes the place of what was there. Its objects lose their nulls, as new objects do. */
function withoutNullFields(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutNullFields);
  return isJsonObject(value) ? merge(undefined, value) : value;
}
