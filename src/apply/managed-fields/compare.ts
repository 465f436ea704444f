import { equalJson, isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
import type { Schema, StructSchema } from "../../api/schema/schema.ts";
import { emptyFieldSet, FieldSet, leafFieldSet } from "./field-set.ts";
import { fieldElement, type PathElement } from "./path-element.ts";
import { childTopology, Duplicates, impliedValue, itemsByElement, schemaTopology, type Topology } from "./topology.ts";

/** How one object became another. What was added or removed as a whole is in the set with all its parts. */
export interface Comparison {
  readonly added: FieldSet;
  readonly changed: FieldSet;
  readonly removed: FieldSet;
}
type Items = Topology & { kind: "set" | "listMap" };

/** Paths of `ignored`, and what is below them, are not compared. */
export function compareObjects(
  old: JsonObject,
  fresh: JsonObject,
  schema: StructSchema,
  ignored: FieldSet = emptyFieldSet,
): Comparison {
  return compare(old, fresh, schemaTopology(schema), ignored) ?? nothing;
}

const nothing: Comparison = { added: emptyFieldSet, changed: emptyFieldSet, removed: emptyFieldSet };
const leafChanged: Comparison = { ...nothing, changed: leafFieldSet };

/** Undefined when the two are the same, which is the common case. */
function compare(
  old: JsonValue,
  fresh: JsonValue,
  topology: Topology,
  ignored: FieldSet | undefined,
): Comparison | undefined {
  if (old === fresh) return undefined;
  if (topology.kind === "object") {
    const comparable = (isJsonObject(old) || old === null) && (isJsonObject(fresh) || fresh === null);
    if (comparable && !(isEmpty(old) && isEmpty(fresh))) {
      return compareKeys(isJsonObject(old) ? old : {}, isJsonObject(fresh) ? fresh : {}, topology.schema, ignored);
    }
  } else if (topology.kind !== "leaf") {
    const comparable = (Array.isArray(old) || old === null) && (Array.isArray(fresh) || fresh === null);
    if (comparable && !(isEmpty(old) && isEmpty(fresh))) {
      return compareItems(Array.isArray(old) ? old : [], Array.isArray(fresh) ? fresh : [], topology, ignored);
    }
  }
  return equalJson(old, fresh) ? undefined : leafChanged;
}

function isEmpty(value: JsonValue): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return value === null || (isJsonObject(value) && Object.keys(value).length === 0);
}

function compareKeys(
  old: JsonObject,
  fresh: JsonObject,
  schema: Schema | undefined,
  ignored: FieldSet | undefined,
): Comparison | undefined {
  const result = new ComparisonBuilder();
  const struct = schema?.kind === "struct" ? schema : undefined;
  for (const key of Object.keys(fresh)) {
    const before = Object.hasOwn(old, key) ? old[key] : struct && impliedValue(struct, key);
    const after = fresh[key] as JsonValue;
    if (before === after) continue;
    result.compare(fieldElement(key), before, after, childTopology(schema, key), ignored);
  }
  for (const key of Object.keys(old)) {
    if (Object.hasOwn(fresh, key)) continue;
    const after = struct && impliedValue(struct, key);
    result.compare(fieldElement(key), old[key], after, childTopology(schema, key), ignored);
  }
  return result.build();
}

function compareItems(
  old: readonly JsonValue[],
  fresh: readonly JsonValue[],
  topology: Items,
  ignored: FieldSet | undefined,
): Comparison | undefined {
  // Computing path elements costs far more than comparing, and most lists are as they were.
  if (equalJson(old as JsonValue[], fresh as JsonValue[])) return undefined;
  const before = itemsByElement(old, topology);
  const after = itemsByElement(fresh, topology);
  const result = new ComparisonBuilder();
  const item = topology.kind === "set" ? leafTopology : schemaTopology(topology.item);
  for (const [element, value] of after) result.compareItem(element, before.get(element), value, item, ignored);
  for (const [element, value] of before) {
    if (!after.has(element)) result.compareItem(element, value, undefined, item, ignored);
  }
  return result.build();
}
const leafTopology: Topology = { kind: "leaf" };

/** Collects what differs below one place. */
class ComparisonBuilder {
  #added: Map<PathElement, FieldSet> | undefined;
  #changed: Map<PathElement, FieldSet> | undefined;
  #removed: Map<PathElement, FieldSet> | undefined;

  compareItem(
    element: PathElement,
    before: JsonValue | Duplicates | undefined,
    after: JsonValue | Duplicates | undefined,
    topology: Topology,
    ignored: FieldSet | undefined,
  ): void {
    if (!(before instanceof Duplicates) && !(after instanceof Duplicates)) {
      this.compare(element, before, after, topology, ignored);
      return;
    }
    const [old, fresh] = [valuesOf(before), valuesOf(after)];
    this.compare(element, old, fresh, leafTopology, ignored);
  }

  compare(
    element: PathElement,
    before: JsonValue | undefined,
    after: JsonValue | undefined,
    topology: Topology,
    ignoredAbove: FieldSet | undefined,
  ): void {
    const ignored = ignoredAbove?.child(element);
    if (ignored?.owned) return;
    if (before === undefined) {
      if (after !== undefined) (this.#added ??= new Map()).set(element, wholeOf(after, topology, ignored));
    } else if (after === undefined) {
      (this.#removed ??= new Map()).set(element, wholeOf(before, topology, ignored));
    } else {
      this.#take(element, compare(before, after, topology, ignored));
    }
  }

  #take(element: PathElement, below: Comparison | undefined): void {
    if (below === undefined) return;
    if (!below.added.isEmpty) (this.#added ??= new Map()).set(element, below.added);
    if (!below.changed.isEmpty) (this.#changed ??= new Map()).set(element, below.changed);
    if (!below.removed.isEmpty) (this.#removed ??= new Map()).set(element, below.removed);
  }

  build(): Comparison | undefined {
    if (this.#added === undefined && this.#changed === undefined && this.#removed === undefined) return undefined;
    return { added: nodeOf(this.#added), changed: nodeOf(this.#changed), removed: nodeOf(this.#removed) };
  }
}

function nodeOf(children: Map<PathElement, FieldSet> | undefined): FieldSet {
  return children === undefined ? emptyFieldSet : new FieldSet(false, children);
}

function valuesOf(items: JsonValue | Duplicates | undefined): JsonValue | undefined {
  return items instanceof Duplicates ? items.values : items;
}

/** A value and every part of it that can be owned by itself. */
function wholeOf(value: JsonValue, topology: Topology, ignored: FieldSet | undefined): FieldSet {
  if (topology.kind === "object" && isJsonObject(value)) return wholeObject(value, topology.schema, ignored);
  if ((topology.kind === "set" || topology.kind === "listMap") && Array.isArray(value)) {
    return wholeList(value, topology, ignored);
  }
  return leafFieldSet;
}

function wholeObject(object: JsonObject, schema: Schema | undefined, ignored: FieldSet | undefined): FieldSet {
  const keys = Object.keys(object);
  if (keys.length === 0) return leafFieldSet;
  const children = new Map<PathElement, FieldSet>();
  for (const key of keys) {
    const element = fieldElement(key);
    const ignoredHere = ignored?.child(element);
    if (ignoredHere?.owned) continue;
    children.set(element, wholeOf(object[key] as JsonValue, childTopology(schema, key), ignoredHere));
  }
  return new FieldSet(true, children);
}

function wholeList(list: readonly JsonValue[], topology: Items, ignored: FieldSet | undefined): FieldSet {
  if (list.length === 0) return leafFieldSet;
  const children = new Map<PathElement, FieldSet>();
  const itemTopology = topology.kind === "set" ? leafTopology : schemaTopology(topology.item);
  for (const [element, item] of itemsByElement(list, topology)) {
    const ignoredHere = ignored?.child(element);
    if (ignoredHere?.owned) continue;
    children.set(element, item instanceof Duplicates ? leafFieldSet : wholeOf(item, itemTopology, ignoredHere));
  }
  return new FieldSet(true, children);
}
