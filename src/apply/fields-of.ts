import { isEmptyObject, isJsonObject, type JsonObject, type JsonValue } from "../api/json.ts";
import { emptyFieldSet, type FieldSet, leafFieldSet } from "./field-set.ts";
import { itemElement } from "./list-items.ts";
import { NodeShape, nodeOfItems, type Walk } from "./node-shapes.ts";
import { fieldElement, type PathElement } from "./path-element.ts";
import { kindOf, type ListType, type MapType, type ValueType } from "./value-type.ts";

/** The fields that an apply of this document owns: its leaves, the items of its lists, and its map keys. */
export function fieldsOf(document: JsonValue, type: ValueType): FieldSet {
  return setOf(document, type).withOwned(false);
}

/** Empty for a value that holds nothing; its place may be owned all the same. */
function setOf(value: JsonValue, type: ValueType): FieldSet {
  switch (kindOf(type, value)) {
    case "scalar":
      return leafFieldSet;
    case "map": {
      const map = type.map as MapType;
      if (map.atomic) return leafFieldSet;
      return isJsonObject(value) ? setOfKeys(value, map) : emptyFieldSet;
    }
    case "list": {
      const list = type.list as ListType;
      if (list.atomic) return leafFieldSet;
      return Array.isArray(value) ? setOfItems(value, list) : emptyFieldSet;
    }
  }
}

function setOfKeys(object: JsonObject, map: MapType): FieldSet {
  let shape: Walk = NodeShape.start;
  for (const key in object) {
    const value = object[key] as JsonValue;
    const field = map.fields.get(key);
    const type = field?.type ?? map.values;
    if (type === undefined) continue;
    const owned = field === undefined || value === null || (isJsonObject(value) && isEmptyObject(value));
    const below = setOf(value, type);
    const node = owned ? below.withOwned(true) : below;
    if (!node.isEmpty) shape = shape.after(field?.element ?? fieldElement(key), node);
  }
  return shape.node(false);
}

function setOfItems(items: readonly JsonValue[], list: ListType): FieldSet {
  const byElement = new Map<PathElement, FieldSet>();
  for (const item of items) {
    const element = itemElement(item, list);
    // Duplicates, which only a live object has, are owned as one.
    byElement.set(element, byElement.has(element) ? leafFieldSet : setOf(item, list.items).withOwned(true));
  }
  return nodeOfItems(false, byElement);
}
