import { goText } from "../api/go-text.ts";
import { isJsonObject, type JsonValue } from "../api/json.ts";
import { compareTexts } from "./text-order.ts";

const shortEscapes: Readonly<Record<string, string>> = {
  "\u0007": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  "\\": "\\\\",
  '"': '\\"',
};
const quotedCharacters = /["\\]|(?! )[\p{C}\p{Z}]/gu;

/** A text as Go prints it with `%q`. */
export function quoteGo(text: string): string {
  return `"${text.replace(quotedCharacters, (character) => shortEscapes[character] ?? escapeCodePoint(character))}"`;
}

function escapeCodePoint(character: string): string {
  const code = character.codePointAt(0) as number;
  const hex = code.toString(16);
  if (code < 0x80) return `\\x${hex.padStart(2, "0")}`;
  return code < 0x10000 ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
}

/** The name of the Go type that a decoded document holds a value in. */
export function goTypeName(value: JsonValue): string {
  if (Array.isArray(value)) return "[]interface {}";
  if (isJsonObject(value)) return "map[string]interface {}";
  if (value === null) return "<nil>";
  if (typeof value === "number") return Number.isInteger(value) ? "int64" : "float64";
  return typeof value === "boolean" ? "bool" : typeof value === "bigint" ? "int64" : "string";
}

/** A value as Go prints it with `%#v`. */
export function goSyntax(value: JsonValue): string {
  if (typeof value === "string") return quoteGo(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map(goElement).join(", ")}}`;
  if (!isJsonObject(value)) return goText(value);
  const pairs = Object.keys(value)
    .sort(compareTexts)
    .map((key) => `${quoteGo(key)}:${goElement(value[key] as JsonValue)}`);
  return `map[string]interface {}{${pairs.join(", ")}}`;
}

function goElement(value: JsonValue): string {
  return value === null ? "interface {}(nil)" : goSyntax(value);
}
