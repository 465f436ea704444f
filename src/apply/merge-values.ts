import { emptyJsonObject, isEmptyObject, isJsonObject, type JsonObject, type JsonValue } from "../api/json.ts";
import { itemElement } from "./list-items.ts";
import type { PathElement } from "./path-element.ts";
import { kindOf, type ListType, type MapType, typeOfKey, type ValueType } from "./value-type.ts";

/** The live document with what an applied one says put over it. Shares its parts with both. */
export function mergeValues(live: JsonValue, applied: JsonValue, type: ValueType): JsonValue {
  const kind = kindOf(type, applied);
  if (kind === "map") {
    const map = type.map as MapType;
    const before = isJsonObject(live) ? live : undefined;
    const after = isJsonObject(applied) ? applied : undefined;
    const empty = (before === undefined || isEmptyObject(before)) && (after === undefined || isEmptyObject(after));
    if (!map.atomic && !empty) return mergeKeys(before, after, map);
  } else if (kind === "list") {
    const list = type.list as ListType;
    const before = Array.isArray(live) ? live : [];
    const after = Array.isArray(applied) ? applied : [];
    if (!list.atomic && before.length + after.length > 0) return mergeItems(before, after, list);
  }
  return applied;
}

/** Returns the live object itself where nothing changes it. */
function mergeKeys(live: JsonObject | undefined, applied: JsonObject | undefined, map: MapType): JsonObject {
  if (applied === undefined) return live ?? emptyJsonObject();
  if (live === undefined) return applied;
  let merged = live;
  for (const key in applied) {
    const value = applied[key] as JsonValue;
    const before = Object.hasOwn(live, key) ? live[key] : undefined;
    const after = before === undefined ? value : mergeValues(before, value, typeOfKey(map, key));
    if (after === before) continue;
    if (merged === live) merged = Object.assign(emptyJsonObject(), live);
    merged[key] = after;
  }
  return merged;
}

/**
 * Merges the items that both lists have, and keeps both orders if possible: an item that only the live list has remains
 * after the one that it followed. If the two disagree, the applied order wins.
 */
function mergeItems(live: readonly JsonValue[], applied: readonly JsonValue[], list: ListType): JsonValue[] {
  const liveElements = live.map((item) => itemElement(item, list));
  const appliedElements = applied.map((item) => itemElement(item, list));
  if (live.length === applied.length && liveElements.every((element, at) => element === appliedElements[at])) {
    return sameOr(
      live,
      live.map((item, at) => mergeValues(item, applied[at] as JsonValue, list.items)),
    );
  }
  const liveItems = onlyItems(live, liveElements);
  const appliedSet = new Set(appliedElements);
  const shared = appliedElements.filter((element) => liveItems.has(element));
  const done = new Set<PathElement>();
  const merged: JsonValue[] = [];
  let nextShared = 0;
  let left = 0;
  let right = 0;

  function takeApplied(): void {
    const element = appliedElements[right] as PathElement;
    const item = applied[right] as JsonValue;
    const before = liveItems.get(element);
    merged.push(before === undefined ? item : mergeValues(before, item, list.items));
    done.add(element);
    if (shared[nextShared] === element) nextShared++;
    right++;
  }

  while (left < live.length || right < applied.length) {
    const element = liveElements[left];
    if (element !== undefined && right < applied.length) {
      if (element === appliedElements[right]) {
        takeApplied();
        left++;
        continue;
      }
      // Its turn comes with the applied item.
      if (appliedSet.has(element) && nextShared < shared.length && shared[nextShared] !== element) {
        left++;
        continue;
      }
    }
    if (element !== undefined) {
      if (!appliedSet.has(element)) {
        merged.push(live[left] as JsonValue);
        left++;
        continue;
      }
      if (done.has(element)) left++;
    }
    if (right < applied.length) takeApplied();
  }
  return sameOr(live, merged);
}

/** Each item by its element. Duplicates count as null: an applied item replaces them instead of merging with them. */
function onlyItems(items: readonly JsonValue[], elements: readonly PathElement[]): Map<PathElement, JsonValue> {
  const result = new Map<PathElement, JsonValue>();
  for (const [at, element] of elements.entries()) {
    result.set(element, result.has(element) ? null : (items[at] as JsonValue));
  }
  return result;
}

/** The live list itself when nothing has changed in it. */
function sameOr(live: readonly JsonValue[], merged: JsonValue[]): JsonValue[] {
  const same = merged.length === live.length && merged.every((item, at) => item === live[at]);
  return same ? (live as JsonValue[]) : merged;
}
