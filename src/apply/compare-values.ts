import { equalJson, equalLists, isEmptyObject, isJsonObject, type JsonObject, type JsonValue } from "../api/json.ts";
import { emptyFieldSet, type FieldSet, leafFieldSet } from "./field-set.ts";
import { itemElement, itemsByElement } from "./list-items.ts";
import { NodeShape, nodeOfItems, type Walk } from "./node-shapes.ts";
import { fieldElement, type PathElement } from "./path-element.ts";
import { kindOf, type ListType, type MapType, typeOfKey, type ValueKind, type ValueType } from "./value-type.ts";

/** How a value became another one. A part that came or went as a whole is in the set with all its parts. */
export interface Difference {
  /** Paths that were added or have another value. */
  readonly changed: FieldSet;
  readonly removed: FieldSet;
}

export const noDifference: Difference = { changed: emptyFieldSet, removed: emptyFieldSet };
const leafChanged: Difference = { changed: leafFieldSet, removed: emptyFieldSet };
const leafRemoved: Difference = { changed: emptyFieldSet, removed: leafFieldSet };

/** Compares two documents of a type, whose lists may hold duplicates. */
export function compareValues(old: JsonValue, fresh: JsonValue, type: ValueType): Difference {
  const { changed, removed } = compare(old, fresh, type);
  return { changed: changed.withOwned(false), removed: removed.withOwned(false) };
}

/** Absence is undefined, which is not the same as null. */
function compare(old: JsonValue | undefined, fresh: JsonValue | undefined, type: ValueType): Difference {
  if (old === fresh) return noDifference;
  if (old === undefined) return { changed: wholeOf(fresh as JsonValue, type), removed: emptyFieldSet };
  if (fresh === undefined) return { changed: emptyFieldSet, removed: wholeOf(old, type) };
  const before = kindOf(type, old);
  const after = kindOf(type, fresh);
  const difference = compareAs(after, old, fresh, type);
  return before === after ? difference : both(compareAs(before, old, fresh, type), difference);
}

function both(first: Difference, second: Difference): Difference {
  return { changed: first.changed.union(second.changed), removed: first.removed.union(second.removed) };
}

/** Compares by the rule of one kind. A value of another kind counts as null there. */
function compareAs(kind: ValueKind, old: JsonValue, fresh: JsonValue, type: ValueType): Difference {
  if (kind === "map") {
    const map = type.map as MapType;
    const before = isJsonObject(old) ? old : noKeys;
    const after = isJsonObject(fresh) ? fresh : noKeys;
    if (!map.atomic && !(isEmptyObject(before) && isEmptyObject(after))) return compareKeys(before, after, map);
  } else if (kind === "list") {
    const list = type.list as ListType;
    const before = Array.isArray(old) ? old : noItems;
    const after = Array.isArray(fresh) ? fresh : noItems;
    if (!list.atomic && before.length + after.length > 0) return compareItems(before, after, list);
  }
  return equalJson(old, fresh) ? noDifference : leafChanged;
}

const noKeys: JsonObject = Object.freeze(Object.create(null));
const noItems: readonly JsonValue[] = [];

function compareKeys(old: JsonObject, fresh: JsonObject, map: MapType): Difference {
  if (isEmptyObject(old)) return { changed: wholeObject(fresh, map).withOwned(false), removed: emptyFieldSet };
  let result: DifferenceBuilder | undefined;
  let kept = 0;
  for (const key in fresh) {
    const after = fresh[key] as JsonValue;
    // Nothing that an object inherits equals a value of a document.
    if (old[key] === after) {
      if (after !== undefined) kept++;
      continue;
    }
    const before = ownValue(old, key);
    if (before !== undefined) kept++;
    else if (isScalar(after)) {
      result ??= new DifferenceBuilder();
      result.addLeafField(key);
      continue;
    }
    const field = map.fields.get(key);
    const difference = compare(before, after, field?.type ?? typeOfKey(map, key));
    if (difference === noDifference) continue;
    result ??= new DifferenceBuilder();
    result.add(field?.element ?? fieldElement(key), difference);
  }
  if (countKeys(old) > kept) {
    for (const key in old) {
      if (Object.hasOwn(fresh, key)) continue;
      const field = map.fields.get(key);
      result ??= new DifferenceBuilder();
      result.add(field?.element ?? fieldElement(key), compare(old[key], undefined, field?.type ?? typeOfKey(map, key)));
    }
  }
  return result?.build() ?? noDifference;
}

/** Counts without a list of the keys, and costs less than a look-up of each. */
function countKeys(object: JsonObject): number {
  let count = 0;
  for (const _ in object) count++;
  return count;
}

/** Asks for the owner of a value only if there is one, because asking costs more than reading. */
function ownValue(object: JsonObject, key: string): JsonValue | undefined {
  const value = object[key];
  return value !== undefined && Object.hasOwn(object, key) ? value : undefined;
}

function isScalar(value: JsonValue): value is Exclude<JsonValue, object> {
  return typeof value !== "object" || value === null;
}

function compareItems(old: readonly JsonValue[], fresh: readonly JsonValue[], list: ListType): Difference {
  if (old.length === 0) return { changed: wholeList(fresh, list).withOwned(false), removed: emptyFieldSet };
  // Making path elements costs far more than comparing, and most lists are as they were.
  if (equalLists(old, fresh)) return noDifference;
  const before = itemsByElement(old, list);
  const after = itemsByElement(fresh, list);
  const result = new DifferenceBuilder();
  for (const [element, items] of before) {
    result.add(element, compareDuplicates(items, after.get(element) ?? noItems, list.items));
  }
  for (const [element, items] of after) {
    if (!before.has(element)) result.add(element, compareDuplicates(noItems, items, list.items));
  }
  return result.build();
}

/** Items that share an element are one value, owned as a whole; a single item is owned part by part. */
function compareDuplicates(old: readonly JsonValue[], fresh: readonly JsonValue[], type: ValueType): Difference {
  if (old.length < 2 && fresh.length < 2) return compare(old[0], fresh[0], type);
  if (old.length > 1 && fresh.length > 1) return equalLists(old, fresh) ? noDifference : leafChanged;
  return old.length > 1
    ? both(compare(undefined, fresh[0], type), leafRemoved)
    : both(compare(old[0], undefined, type), leafChanged);
}

/** Collects what differs below one place. */
class DifferenceBuilder {
  #changed: Walk | undefined;
  #removed: Walk | undefined;

  add(element: PathElement, { changed, removed }: Difference): void {
    if (!changed.isEmpty) this.#changed = (this.#changed ?? NodeShape.start).after(element, changed);
    if (!removed.isEmpty) this.#removed = (this.#removed ?? NodeShape.start).after(element, removed);
  }

  /** Adds a field that was absent and is now a leaf. */
  addLeafField(name: string): void {
    this.#changed = (this.#changed ?? NodeShape.start).afterLeafField(name);
  }

  build(): Difference {
    if (this.#changed === undefined && this.#removed === undefined) return noDifference;
    return {
      changed: this.#changed?.node(false) ?? emptyFieldSet,
      removed: this.#removed?.node(false) ?? emptyFieldSet,
    };
  }
}

/** A value and every part of it that can be owned by itself. */
function wholeOf(value: JsonValue, type: ValueType): FieldSet {
  if (isScalar(value)) return leafFieldSet;
  if (Array.isArray(value)) {
    const { list } = type;
    return list === undefined || list.atomic ? leafFieldSet : wholeList(value, list);
  }
  const { map } = type;
  return map === undefined || map.atomic ? leafFieldSet : wholeObject(value, map);
}

function wholeObject(object: JsonObject, map: MapType): FieldSet {
  const { fields } = map;
  let shape: Walk = NodeShape.start;
  for (const key in object) {
    const value = object[key] as JsonValue;
    if (isScalar(value)) {
      shape = shape.afterLeafField(key);
      continue;
    }
    const field = fields.get(key);
    shape = shape.after(field?.element ?? fieldElement(key), wholeOf(value, field?.type ?? typeOfKey(map, key)));
  }
  return shape.node(true);
}

function wholeList(items: readonly JsonValue[], list: ListType): FieldSet {
  return items.length <= shortListMax ? wholeShortList(items, list) : wholeLongList(items, list);
}

/** Up to here it takes less time to look through a list than to make a map. */
const shortListMax = 16;

function wholeShortList(items: readonly JsonValue[], list: ListType): FieldSet {
  let shape: Walk = NodeShape.start;
  for (const item of items) {
    shape = shape.after(itemElement(item, list), wholeOf(item, list.items));
    if (shape.repeats) return wholeLongList(items, list);
  }
  return shape.node(true);
}

function wholeLongList(items: readonly JsonValue[], list: ListType): FieldSet {
  const byElement = new Map<PathElement, FieldSet>();
  for (const item of items) {
    const element = itemElement(item, list);
    byElement.set(element, byElement.has(element) ? leafFieldSet : wholeOf(item, list.items));
  }
  return nodeOfItems(true, byElement);
}
