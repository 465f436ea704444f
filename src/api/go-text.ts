import { isJsonObject, type JsonValue } from "./json.ts";

/** A document as Go prints values with `%v`: `map[spec:map[replicas:3]]`, keys in order, lists as `[a b]`. */
export function goText(value: JsonValue): string {
  if (value === null) return "<nil>";
  if (Array.isArray(value)) return `[${value.map(goText).join(" ")}]`;
  if (!isJsonObject(value)) return String(value);
  const pairs = Object.keys(value)
    .sort()
    .map((key) => `${key}:${goText(value[key] as JsonValue)}`);
  return `map[${pairs.join(" ")}]`;
}

/** The Go type that a value of a document without a type has. */
export function goInterfaceType(value: JsonValue): string {
  if (value === null) return "<nil>";
  if (Array.isArray(value)) return "[]interface {}";
  if (isJsonObject(value)) return "map[string]interface {}";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "string") return "string";
  return typeof value === "bigint" || Number.isInteger(value) ? "int64" : "float64";
}
