import { isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
import type { Field, ListSchema, ScalarKind, Schema, StructSchema } from "../../api/schema/schema.ts";
import { keyElement, type PathElement, valueElement } from "./path-element.ts";

/** How a value at one place is owned: as one piece, or part by part. */
export type Topology =
  | { readonly kind: "leaf" }
  /** A struct, a map, or JSON of unknown shape: each key is owned by itself. */
  | { readonly kind: "object"; readonly schema: Schema | undefined }
  | { readonly kind: "set" }
  | { readonly kind: "listMap"; readonly keys: readonly string[]; readonly item: Schema };

const leaf: Topology = { kind: "leaf" };
const set: Topology = { kind: "set" };
const untyped: Topology = { kind: "object", schema: undefined };
const byField = new WeakMap<Field, Topology>();
const bySchema = new WeakMap<Schema, Topology>();

/** The topology of a struct's field. */
export function fieldTopology(field: Field): Topology {
  let topology = byField.get(field);
  if (topology === undefined) {
    topology = topologyOfField(field);
    byField.set(field, topology);
  }
  return topology;
}

function topologyOfField(field: Field): Topology {
  const { schema } = field;
  if (schema.kind === "list") {
    if (field.listType === "set") return set;
    return field.listType === "map" ? listMap(schema, field.listMapKeys) : leaf;
  }
  if (schema.kind !== "scalar" && field.mapType === "atomic") return leaf;
  return schemaTopology(schema);
}

function listMap(schema: ListSchema, keys: readonly string[]): Topology {
  return { kind: "listMap", keys, item: schema.items };
}

/** The topology of a value that is no struct's field: an item, a map's value, or the document itself. */
export function schemaTopology(schema: Schema | undefined): Topology {
  if (schema === undefined) return untyped;
  let topology = bySchema.get(schema);
  if (topology === undefined) {
    topology = topologyOfSchema(schema);
    bySchema.set(schema, topology);
  }
  return topology;
}

function topologyOfSchema(schema: Schema): Topology {
  switch (schema.kind) {
    case "list":
      return leaf;
    case "scalar":
      return schema.scalar === "any" || schema.scalar === "rawExtension" ? untyped : leaf;
    case "struct":
      return schema.atomic ? leaf : { kind: "object", schema };
    default:
      return { kind: "object", schema };
  }
}

/** The topology of one key of a value whose topology is `object`. */
export function childTopology(schema: Schema | undefined, key: string): Topology {
  if (schema?.kind === "struct") {
    const field = schema.fields.get(key);
    return field === undefined ? untyped : fieldTopology(field);
  }
  return schemaTopology(schema?.kind === "map" ? schema.values : undefined);
}

/** What an absent field stands for where its zero value is always written; undefined where absence is a value of its own. */
export function impliedValue(schema: StructSchema, key: string): JsonValue | undefined {
  const field = schema.fields.get(key);
  if (field === undefined || field.pointer) return undefined;
  if (field.schema.kind === "struct") return field.omitZero ? undefined : emptyStruct;
  if (field.omitEmpty) return undefined;
  return field.schema.kind === "scalar" ? zeroScalars[field.schema.scalar] : null;
}
const zeroScalars: { readonly [scalar in ScalarKind]?: JsonValue } = {
  string: "",
  bool: false,
  int32: 0,
  int64: 0,
  uint8: 0,
  uint32: 0,
  uint64: 0,
  float64: 0,
  bytes: null,
  time: null,
  microTime: null,
};
const emptyStruct: JsonObject = Object.freeze(Object.create(null));

/** The items of a set or list map by their path element; more than one value for an element are duplicates. */
export function itemsByElement(
  list: readonly JsonValue[],
  topology: Topology & { kind: "set" | "listMap" },
): Map<PathElement, JsonValue | Duplicates> {
  const items = new Map<PathElement, JsonValue | Duplicates>();
  for (const item of list) {
    const element = itemElement(item, topology);
    const earlier = items.get(element);
    if (earlier === undefined) items.set(element, item);
    else if (earlier instanceof Duplicates) earlier.values.push(item);
    else items.set(element, new Duplicates([earlier, item]));
  }
  return items;
}

/** Items of one list that share a path element: owned together. */
export class Duplicates {
  readonly values: JsonValue[];

  constructor(values: JsonValue[]) {
    this.values = values;
  }
}

function itemElement(item: JsonValue, topology: Topology & { kind: "set" | "listMap" }): PathElement {
  if (topology.kind === "set" || !isJsonObject(item)) return valueElement(item);
  return keyElement(item, topology.keys, (key) =>
    topology.item.kind === "struct" ? topology.item.fields.get(key)?.default : undefined,
  );
}
