import { isJsonObject, type JsonObject, type JsonValue } from "../../json.ts";

/**
 * Reads parts of an object that may be missing, or that have another shape because they were stored before their type
 * changed.
 */

const nothing: JsonObject = Object.freeze(Object.create(null) as JsonObject);

/** Returns the struct in a field; empty if there is none. */
export function structIn(object: JsonObject, field: string): JsonObject {
  const value = object[field];
  return isJsonObject(value) ? value : nothing;
}

/** Returns the structs of a list field. */
export function structsIn(object: JsonObject, field: string): JsonObject[] {
  const value = object[field];
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** Returns the text in a field; "" if absent. */
export function textIn(object: JsonObject, field: string): string {
  const value = object[field];
  return typeof value === "string" ? value : "";
}

/** Returns the number in a field; 0 if absent. */
export function numberIn(object: JsonObject, field: string): number {
  const value = object[field];
  return typeof value === "number" ? value : 0;
}

/** Returns the number of keys or items in a field. */
export function sizeOf(value: JsonValue | undefined): number {
  if (Array.isArray(value)) return value.length;
  return isJsonObject(value) ? Object.keys(value).length : 0;
}

/** Returns the texts of a list field. */
export function textsIn(object: JsonObject, field: string): string[] {
  const value = object[field];
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

/** Formats a map as `a=1,b=2`, sorted; `<none>` if empty. */
export function pairsText(value: JsonValue | undefined): string {
  if (!isJsonObject(value)) return "<none>";
  const pairs = Object.keys(value)
    .sort()
    .map((key) => `${key}=${String(value[key])}`);
  return pairs.join(",") || "<none>";
}

/** Formats a flag as `True`, `False`, or `<unset>`. */
export function flagText(value: JsonValue | undefined): string {
  if (typeof value !== "boolean") return "<unset>";
  return value ? "True" : "False";
}

/** Joins the first few texts and counts the rest: `a,b,c + 4 more...`. */
export function firstFew(
  texts: readonly string[],
  shownMax: number,
  separator = ",",
  count: number = texts.length,
): string {
  const shown = texts.slice(0, shownMax).join(separator);
  return count > shownMax ? `${shown} + ${count - shownMax} more...` : shown;
}

/** Reports whether a status has a condition of this type that is True. */
export function hasCondition(status: JsonObject, type: string): boolean {
  return structsIn(status, "conditions").some(
    (condition) => textIn(condition, "type") === type && textIn(condition, "status") === "True",
  );
}
