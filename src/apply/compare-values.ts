import { equalJson, isJsonObject, type JsonObject, type JsonValue } from "../api/json.ts";
import { emptyFieldSet, type FieldSet, fieldSetNode, leafFieldSet } from "./field-set.ts";
import { itemElement, itemsByElement } from "./list-items.ts";
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
    const [before, after] = [isJsonObject(old) ? old : noKeys, isJsonObject(fresh) ? fresh : noKeys];
    if (!map.atomic && !(isEmptyObject(before) && isEmptyObject(after))) return compareKeys(before, after, map);
  } else if (kind === "list") {
    const list = type.list as ListType;
    const [before, after] = [Array.isArray(old) ? old : noItems, Array.isArray(fresh) ? fresh : noItems];
    if (!list.atomic && before.length + after.length > 0) return compareItems(before, after, list);
  }
  return equalJson(old, fresh) ? noDifference : leafChanged;
}

const noKeys: JsonObject = Object.freeze(Object.create(null));
const noItems: readonly JsonValue[] = [];

export function isEmptyObject(object: JsonObject): boolean {
  for (const _ in object) return false;
  return true;
}

function compareKeys(old: JsonObject, fresh: JsonObject, map: MapType): Difference {
  const result = new DifferenceBuilder();
  for (const key in fresh) {
    const [before, after] = [ownValue(old, key), fresh[key] as JsonValue];
    if (before === after) continue;
    const field = map.fields.get(key);
    result.add(field?.element ?? fieldElement(key), compare(before, after, field?.type ?? typeOfKey(map, key)));
  }
  for (const key in old) {
    if (ownValue(fresh, key) !== undefined) continue;
    const field = map.fields.get(key);
    result.add(field?.element ?? fieldElement(key), compare(old[key], undefined, field?.type ?? typeOfKey(map, key)));
  }
  return result.build();
}

function ownValue(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function compareItems(old: readonly JsonValue[], fresh: readonly JsonValue[], list: ListType): Difference {
  // Making path elements costs far more than comparing, and most lists are as they were.
  if (old.length === fresh.length && old.every((item, at) => equalJson(item, fresh[at]))) return noDifference;
  const before = itemsByElement(old, list);
  const after = itemsByElement(fresh, list);
  const result = new DifferenceBuilder();
  for (const [element, items] of before) {
    result.add(element, compareDuplicates(items, after.get(element) ?? [], list.items));
  }
  for (const [element, items] of after) {
    if (!before.has(element)) result.add(element, compareDuplicates([], items, list.items));
  }
  return result.build();
}

/** Items that share an element are one value, owned as a whole; a single item is owned part by part. */
function compareDuplicates(old: readonly JsonValue[], fresh: readonly JsonValue[], type: ValueType): Difference {
  if (old.length < 2 && fresh.length < 2) return compare(old[0], fresh[0], type);
  if (old.length > 1 && fresh.length > 1) {
    const equal = old.length === fresh.length && old.every((item, at) => equalJson(item, fresh[at]));
    return equal ? noDifference : leafChanged;
  }
  return old.length > 1
    ? both(compare(undefined, fresh[0], type), leafRemoved)
    : both(compare(old[0], undefined, type), leafChanged);
}

/** Collects what differs below one place. */
class DifferenceBuilder {
  readonly #changedElements: PathElement[] = [];
  readonly #changed: FieldSet[] = [];
  readonly #removedElements: PathElement[] = [];
  readonly #removed: FieldSet[] = [];

  add(element: PathElement, { changed, removed }: Difference): void {
    if (!changed.isEmpty) {
      this.#changedElements.push(element);
      this.#changed.push(changed);
    }
    if (!removed.isEmpty) {
      this.#removedElements.push(element);
      this.#removed.push(removed);
    }
  }

  build(): Difference {
    if (this.#changed.length === 0 && this.#removed.length === 0) return noDifference;
    return {
      changed: fieldSetNode(false, this.#changedElements, this.#changed),
      removed: fieldSetNode(false, this.#removedElements, this.#removed),
    };
  }
}

/** A value and every part of it that can be owned by itself. */
function wholeOf(value: JsonValue, type: ValueType): FieldSet {
  if (isJsonObject(value)) {
    const { map } = type;
    return map === undefined || map.atomic ? leafFieldSet : wholeObject(value, map);
  }
  if (!Array.isArray(value)) return leafFieldSet;
  const { list } = type;
  return list === undefined || list.atomic ? leafFieldSet : wholeList(value, list);
}

function wholeObject(object: JsonObject, map: MapType): FieldSet {
  const elements: PathElement[] = [];
  const nodes: FieldSet[] = [];
  for (const key in object) {
    const field = map.fields.get(key);
    elements.push(field?.element ?? fieldElement(key));
    nodes.push(wholeOf(object[key] as JsonValue, field?.type ?? typeOfKey(map, key)));
  }
  return fieldSetNode(true, elements, nodes);
}

function wholeList(items: readonly JsonValue[], list: ListType): FieldSet {
  const byElement = new Map<PathElement, FieldSet>();
  for (const item of items) {
    const element = itemElement(item, list);
    byElement.set(element, byElement.has(element) ? leafFieldSet : wholeOf(item, list.items));
  }
  return fieldSetNode(true, [...byElement.keys()], [...byElement.values()]);
}
