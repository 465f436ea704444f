import { compareTexts } from "../api/code-points.ts";
import { quoteText } from "../api/go-literal.ts";
import { goText } from "../api/go-text.ts";
import { isJsonObject, type JsonValue } from "../api/json.ts";

/** Formats a value as Go's `%#v` does. */
export function goSyntax(value: JsonValue): string {
  if (typeof value === "string") return quoteText(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map(goElement).join(", ")}}`;
  if (!isJsonObject(value)) return goText(value);
  const pairs = Object.keys(value)
    .sort(compareTexts)
    .map((key) => `${quoteText(key)}:${goElement(value[key] as JsonValue)}`);
  return `map[string]interface {}{${pairs.join(", ")}}`;
}

function goElement(value: JsonValue): string {
  return value === null ? "interface {}(nil)" : goSyntax(value);
}
