import { isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";

/** Reads parts of an object that may be missing or, in what clients stored before a change of type, of another shape. */

const nothing: JsonObject = Object.freeze(Object.create(null) as JsonObject);

/** The struct in a field; an empty one when there is none. */
export function structIn(object: JsonObject, field: string): JsonObject {
  const value = object[field];
  return isJsonObject(value) ? value : nothing;
}

/** The structs of a list field. */
export function structsIn(object: JsonObject, field: string): JsonObject[] {
  const value = object[field];
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** "" when absent. */
export function textIn(object: JsonObject, field: string): string {
  const value = object[field];
  return typeof value === "string" ? value : "";
}

/** 0 when absent. */
export function numberIn(object: JsonObject, field: string): number {
  const value = object[field];
  return typeof value === "number" ? value : 0;
}

/** Number of keys or items in a field. */
export function sizeOf(value: JsonValue | undefined): number {
  if (Array.isArray(value)) return value.length;
  return isJsonObject(value) ? Object.keys(value).length : 0;
}
