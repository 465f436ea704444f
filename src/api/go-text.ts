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

const shortEscapes: Readonly<Record<string, string>> = {
  "\u0007": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
};

/** Quotes a text as Go's `%q` does. */
export function goQuote(text: string): string {
  if (/^[\x20\x21\x23-\x5b\x5d-\x7e]*$/.test(text)) return `"${text}"`;
  let quoted = "";
  for (const character of text) quoted += goEscape(character);
  return `"${quoted}"`;
}

function goEscape(character: string): string {
  if (character === '"' || character === "\\") return `\\${character}`;
  if (character === " " || !/[\p{C}\p{Z}]/u.test(character)) return character;
  const short = shortEscapes[character];
  if (short !== undefined) return short;
  const code = character.codePointAt(0) as number;
  const digits = code.toString(16);
  if (code < 0x80) return `\\x${digits.padStart(2, "0")}`;
  return code < 0x10000 ? `\\u${digits.padStart(4, "0")}` : `\\U${digits.padStart(8, "0")}`;
}
