import { doubleText } from "./go-literal.ts";
import { isJsonObject, type JsonValue } from "./json.ts";

/** Formats a document as Go's `%v` does: `map[spec:map[replicas:3]]`, keys in order, lists as `[a b]`. */
export function goText(value: JsonValue): string {
  if (value === null) return "<nil>";
  if (Array.isArray(value)) return `[${value.map(goText).join(" ")}]`;
  if (typeof value === "number" && !Number.isInteger(value)) return doubleText(value);
  if (!isJsonObject(value)) return String(value);
  const pairs = Object.keys(value)
    .sort()
    .map((key) => `${key}:${goText(value[key] as JsonValue)}`);
  return `map[${pairs.join(" ")}]`;
}

/** Returns the Go type of a value in an untyped document. */
export function goInterfaceType(value: JsonValue): string {
  if (value === null) return "<nil>";
  if (Array.isArray(value)) return "[]interface {}";
  if (isJsonObject(value)) return "map[string]interface {}";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "string") return "string";
  return typeof value === "bigint" || Number.isInteger(value) ? "int64" : "float64";
}
