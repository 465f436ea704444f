import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";

/**
 * A struct as upstream shows it in errors: its internal types have no names for JSON, so all fields are there, under
 * the names that the code gives them. @param fields in the order of the internal type
 */
export function internalForm(value: JsonObject, fields: readonly string[]): JsonObject {
  return Object.fromEntries(fields.map((name) => [capitalised(name), inner(value[name])]));
}

function inner(value: JsonValue | undefined): JsonValue {
  if (Array.isArray(value)) return value.map(inner);
  if (!isJsonObject(value)) return value ?? null;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [capitalised(name), inner(field)]));
}

function capitalised(name: string): string {
  return name.startsWith("seLinux") ? `SE${name.slice(2)}` : `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}
