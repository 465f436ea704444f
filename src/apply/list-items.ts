import { isJsonObject, type JsonObject, type JsonValue } from "../api/json.ts";
import { KeyPlace } from "./key-place.ts";
import { type PathElement, valueElement } from "./path-element.ts";
import { TrackingError } from "./tracking-error.ts";
import type { ListType } from "./value-type.ts";

/**
 * Returns the path element of an item of a set or a list with keys.
 * @throws TrackingError for an item without any of its keys
 */
export function itemElement(item: JsonValue, list: ListType): PathElement {
  if (list.keys.length === 0 || !isJsonObject(item)) return valueElement(item);
  let place = KeyPlace.start;
  for (const name of list.keys) {
    const value = keyValue(item, name, list);
    if (value !== undefined) place = place.after(name, value);
  }
  if (place.isStart) throw new TrackingError(keylessText(list));
  return place.element;
}

/** Absent keys have their default; a key that is null does not. */
function keyValue(item: JsonObject, name: string, list: ListType): JsonValue | undefined {
  return Object.hasOwn(item, name) ? item[name] : list.items.map?.fields.get(name)?.keyDefault;
}

/** Returns the reason, in upstream's words, why an item has no path element; undefined when it has one. */
export function itemProblem(item: JsonValue, list: ListType): string | undefined {
  if (list.keys.length === 0) {
    if (Array.isArray(item)) return "not supported: associative list with lists as elements";
    if (item === null) return "associative list without keys has an element that's an explicit null";
    return isJsonObject(item) ? "associative list without keys has an element that's a map type" : undefined;
  }
  if (item === null) return "associative list with keys may not have a null element";
  if (!isJsonObject(item)) return "associative list with keys may not have non-map elements";
  return list.keys.some((name) => keyValue(item, name, list) !== undefined) ? undefined : keylessText(list);
}

function keylessText({ declaredKeys }: ListType): string {
  const keys = declaredKeys.map((name) => JSON.stringify(name)).join(" ");
  return `associative list with keys has an element that omits all key fields [${keys}] (and doesn't have default values for any key fields)`;
}

/** Returns the items of a set or a list with keys by element, in the order in which elements first occur. */
export function itemsByElement(items: readonly JsonValue[], list: ListType): Map<PathElement, JsonValue[]> {
  const byElement = new Map<PathElement, JsonValue[]>();
  for (const item of items) {
    const element = itemElement(item, list);
    const same = byElement.get(element);
    if (same === undefined) byElement.set(element, [item]);
    else same.push(item);
  }
  return byElement;
}
