import { isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
import type { Schema, StructSchema } from "../../api/schema/schema.ts";
import { emptyFieldSet, FieldSet, leafFieldSet } from "./field-set.ts";
import { fieldElement, type PathElement } from "./path-element.ts";
import { childTopology, Duplicates, itemsByElement, schemaTopology, type Topology } from "./topology.ts";

/** The fields that an object sets, as an apply of it would own them: its leaves, the items of its lists, its map keys. */
export function fieldSetOf(object: JsonObject, schema: StructSchema): FieldSet {
  const set = setOf(object, schemaTopology(schema));
  return set.owned ? new FieldSet(false) : set;
}

/** Not owned where the value holds owned parts, and empty where it holds nothing that can be owned. */
function setOf(value: JsonValue, topology: Topology): FieldSet {
  if (topology.kind === "object") {
    if (isJsonObject(value)) return setOfObject(value, topology.schema);
    return value === null && topology.schema !== undefined ? emptyFieldSet : leafFieldSet;
  }
  if (topology.kind === "leaf") return leafFieldSet;
  return Array.isArray(value) ? setOfItems(value, topology) : emptyFieldSet;
}

function setOfObject(object: JsonObject, schema: Schema | undefined): FieldSet {
  const children = new Map<PathElement, FieldSet>();
  for (const key of Object.keys(object)) {
    const value = object[key] as JsonValue;
    const below = setOf(value, childTopology(schema, key));
    const declared = schema?.kind === "struct" && schema.fields.has(key);
    const empty = value === null || (isJsonObject(value) && Object.keys(value).length === 0);
    const node = declared && !empty ? below : owning(below);
    if (!node.isEmpty) children.set(fieldElement(key), node);
  }
  return new FieldSet(false, children);
}

function setOfItems(list: readonly JsonValue[], topology: Topology & { kind: "set" | "listMap" }): FieldSet {
  const children = new Map<PathElement, FieldSet>();
  for (const [element, item] of itemsByElement(list, topology)) {
    const atOnce = topology.kind === "set" || item instanceof Duplicates;
    children.set(element, atOnce ? leafFieldSet : owning(setOf(item, schemaTopology(topology.item))));
  }
  return new FieldSet(false, children);
}

function owning(set: FieldSet): FieldSet {
  return set.owned ? set : set.insert([]);
}
