import { emptyJsonObject, isEmptyObject, isJsonObject, type JsonObject, type JsonValue } from "../api/json.ts";
import type { FieldSet } from "./field-set.ts";
import { itemElement } from "./list-items.ts";
import { fieldElement } from "./path-element.ts";
import { kindOf, type ListType, type MapType, typeOfKey, type ValueType } from "./value-type.ts";

/**
 * The remains of a map or list that loses its last part: an empty one in the release that is served, null in the
 * releases before and after it.
 */
export type Emptied = "empty" | "null";

/** The document without these fields. */
export function removeFields(document: JsonValue, fields: FieldSet, type: ValueType, emptied: Emptied): JsonValue {
  if (fields.elements.length === 0) return document;
  const kind = kindOf(type, document);
  if (kind === "map" && isJsonObject(document)) {
    const kept = removeKeys(document, fields, type.map as MapType, emptied);
    return emptied === "null" && isEmptyObject(kept) ? null : kept;
  }
  if (kind === "list" && Array.isArray(document)) {
    const kept = removeItems(document, fields, type.list as ListType, emptied);
    return emptied === "null" && kept.length === 0 ? null : kept;
  }
  return document;
}

function removeKeys(object: JsonObject, fields: FieldSet, map: MapType, emptied: Emptied): JsonObject {
  const kept = emptyJsonObject();
  if (map.atomic) return kept;
  for (const key in object) {
    const node = fields.child(map.fields.get(key)?.element ?? fieldElement(key));
    const value = object[key] as JsonValue;
    if (node === undefined) kept[key] = value;
    else if (!node.owned) kept[key] = removeFields(value, node, typeOfKey(map, key), emptied);
  }
  return kept;
}

function removeItems(items: readonly JsonValue[], fields: FieldSet, list: ListType, emptied: Emptied): JsonValue[] {
  const kept: JsonValue[] = [];
  if (list.atomic) return kept;
  for (const item of items) {
    const node = fields.child(itemElement(item, list));
    if (node === undefined) kept.push(item);
    else if (!node.owned) kept.push(removeFields(item, node, list.items, emptied));
  }
  return kept;
}
