import { isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";

/**
 * Returns the patched document as upstream writes it in errors: where the patch looked into an object, and where it
 * brought one along, the keys are in order; all others are as they were.
 */
export function inMergedOrder(document: JsonValue, patch: JsonValue | undefined): JsonValue {
  if (!isJsonObject(document) || !isJsonObject(patch)) return patch === undefined ? document : sortedKeys(document);
  return mapSorted(document, (value, key) => inMergedOrder(value, Object.hasOwn(patch, key) ? patch[key] : undefined));
}

/** The same for a JSON patch, which looks into all that is on the way to a place. */
export function inPatchedOrder(document: JsonValue, patch: JsonValue): JsonValue {
  const root = newStep();
  for (const operation of Array.isArray(patch) ? patch : []) {
    if (!isJsonObject(operation)) continue;
    for (const pointer of [operation["path"], operation["from"]]) {
      if (typeof pointer === "string") walk(root, pointer);
    }
  }
  return alongSteps(document, root);
}

/** A place that a patch went through, and where it went from there. */
interface Step {
  readonly next: Map<string, Step>;
}

function newStep(): Step {
  return { next: new Map() };
}

function walk(root: Step, pointer: string): void {
  let step = root;
  for (const text of pointer.split("/").slice(1, -1)) {
    const key = text.replaceAll("~1", "/").replaceAll("~0", "~");
    const known = step.next.get(key) ?? newStep();
    step.next.set(key, known);
    step = known;
  }
}

function alongSteps(value: JsonValue, { next }: Step): JsonValue {
  const inner = (item: JsonValue, key: string | number) => {
    const step = next.get(String(key));
    return step === undefined ? item : alongSteps(item, step);
  };
  if (Array.isArray(value)) return value.map(inner);
  return isJsonObject(value) ? mapSorted(value, inner) : value;
}

function sortedKeys(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sortedKeys);
  return isJsonObject(value) ? mapSorted(value, sortedKeys) : value;
}

function mapSorted(value: JsonObject, map: (item: JsonValue, key: string) => JsonValue): JsonObject {
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, map(value[key] as JsonValue, key)]));
}
