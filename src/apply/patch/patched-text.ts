import { compareTexts } from "../../api/code-points.ts";
import { stringifyJson } from "../../api/codec/json.ts";
import { emptyJsonObject, isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
import { atOnce } from "../../process/sliced.ts";

/** Writes the result of a patch for a refusal. */
export function patchedText(merged: JsonObject, patch: JsonValue, type: "json" | "merge"): string {
  return stringifyJson(patchedInOrder(merged, patch, type));
}

/**
 * Orders the result of a patch as kube-apiserver does, which decides the order of complaints. The objects that the patch
 * went into have their keys in order, and all others stay as the type orders them, because it keeps the text of the
 * parts that a patch leaves alone.
 */
export function patchedInOrder(merged: JsonObject, patch: JsonValue, type: "json" | "merge"): JsonObject {
  return atOnce(patchedInOrderInSteps(merged, patch, type));
}

/** Does the same, and yields now and then. */
export function* patchedInOrderInSteps(
  merged: JsonObject,
  patch: JsonValue,
  type: "json" | "merge",
): Generator<void, JsonObject> {
  const touched = new Set<JsonValue>([merged]);
  if (type === "merge") markMerged(merged, patch, touched);
  else if (Array.isArray(patch)) {
    for (const operation of patch) {
      yield;
      markOperation(merged, operation, touched);
    }
  }
  yield;
  return inOrder(merged, touched) as JsonObject;
}

function markMerged(value: JsonValue | undefined, patch: JsonValue | undefined, touched: Set<JsonValue>): void {
  if (Array.isArray(value) && Array.isArray(patch)) {
    touched.add(value);
    for (const [at, item] of value.entries()) markMerged(item, patch[at], touched);
  } else if (isJsonObject(value) && isJsonObject(patch)) {
    touched.add(value);
    for (const [key, part] of Object.entries(patch)) markMerged(value[key], part, touched);
  }
}

function markOperation(merged: JsonObject, operation: JsonValue, touched: Set<JsonValue>): void {
  if (!isJsonObject(operation)) return;
  for (const pointer of [operation["path"], operation["from"]]) {
    if (typeof pointer === "string") markParents(merged, pointer, touched);
  }
}

/** Marks the objects and lists on the path of an operation, as far as they still exist. */
function markParents(merged: JsonObject, pointer: string, touched: Set<JsonValue>): void {
  let value: JsonValue | undefined = merged;
  for (const segment of pointer.split("/").slice(1)) {
    if (!Array.isArray(value) && !isJsonObject(value)) return;
    touched.add(value);
    const key = segment.includes("~") ? segment.replaceAll("~1", "/").replaceAll("~0", "~") : segment;
    value = Array.isArray(value) ? value[Number(key)] : value[key];
  }
}

function inOrder(value: JsonValue, touched: ReadonlySet<JsonValue>): JsonValue {
  if (!touched.has(value)) return value;
  if (Array.isArray(value)) return value.map((item) => inOrder(item, touched));
  if (!isJsonObject(value)) return value;
  const ordered = emptyJsonObject();
  for (const key of Object.keys(value).sort(compareTexts)) ordered[key] = inOrder(value[key] ?? null, touched);
  return ordered;
}
