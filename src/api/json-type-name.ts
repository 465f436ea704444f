import { isJsonObject, type JsonValue } from "./json.ts";

/** Returns the type of a JSON value by the name that Go's encoding/json gives it in errors. */
export function jsonTypeName(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (isJsonObject(value)) return "object";
  if (typeof value === "boolean") return "bool";
  return typeof value === "string" ? "string" : "number";
}
