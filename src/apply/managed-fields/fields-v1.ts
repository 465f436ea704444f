import type { JsonObject } from "../../api/json.ts";
import type { FieldSet } from "./field-set.ts";

/** Whether a path of the set is in a FieldsV1 document, which must be in canonical form. Does not decode it. */
export function fieldsMeet(json: JsonObject, set: FieldSet): boolean {
  for (const [element, node] of set.entries()) {
    const below = json[element] as JsonObject | undefined;
    if (below !== undefined && ((node.owned && isOwned(below)) || fieldsMeet(below, node))) return true;
  }
  return false;
}

/** Whether every path of the set is in a FieldsV1 document, which must be in canonical form. */
export function fieldsCover(json: JsonObject, set: FieldSet): boolean {
  for (const [element, node] of set.entries()) {
    const below = json[element] as JsonObject | undefined;
    if (below === undefined || (node.owned && !isOwned(below)) || !fieldsCover(below, node)) return false;
  }
  return true;
}

function isOwned(json: JsonObject): boolean {
  if (json["."] !== undefined) return true;
  for (const _ in json) return false;
  return true;
}
