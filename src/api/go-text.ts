import { doubleText } from "./go-literal.ts";
import { isJsonObject, type JsonValue } from "./json.ts";

/** A document as Go prints values with `%v`: `map[spec:map[replicas:3]]`, keys in order, lists as `[a b]`. */
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
