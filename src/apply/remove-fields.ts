import { emptyJsonObject, isJsonObject, type JsonObject, type JsonValue } from "../api/json.ts";
import type { FieldSet } from "./field-set.ts";
import { itemElement } from "./list-items.ts";
import { fieldElement } from "./path-element.ts";
import { kindOf, type ListType, type MapType, typeOfKey, type ValueType } from "./value-type.ts";

/** The document without these fields. A map or list that loses its last part stays, empty. */
export function removeFields(document: JsonValue, fields: FieldSet, type: ValueType): JsonValue {
  if (fields.elements.length === 0) return document;
  const kind = kindOf(type, document);
  if (kind === "map" && isJsonObject(document)) return removeKeys(document, fields, type.map as MapType);
  if (kind === "list" && Array.isArray(document)) return removeItems(document, fields, type.list as ListType);
  return document;
}

function removeKeys(object: JsonObject, fields: FieldSet, map: MapType): JsonObject {
  const kept = emptyJsonObject();
  if (map.atomic) return kept;
  for (const key in object) {
    const node = fields.child(map.fields.get(key)?.element ?? fieldElement(key));
    const value = object[key] as JsonValue;
    if (node === undefined) kept[key] = value;
    else if (!node.owned) kept[key] = removeFields(value, node, typeOfKey(map, key));
  }
  return kept;
}

function removeItems(items: readonly JsonValue[], fields: FieldSet, list: ListType): JsonValue[] {
  const kept: JsonValue[] = [];
  if (list.atomic) return kept;
  for (const item of items) {
    const node = fields.child(itemElement(item, list));
    if (node === undefined) kept.push(item);
    else if (!node.owned) kept.push(removeFields(item, node, list.items));
  }
  return kept;
}
