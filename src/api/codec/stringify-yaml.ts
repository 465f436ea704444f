import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import { resolvePlainScalar } from "./yaml-scalar.ts";

/**
 * Writes one YAML document as Kubernetes' tools do: keys sorted, two spaces of indentation, list items at the
 * indentation of their key, text quoted where YAML 1.1 would read another type, multi-line text as a block, and long
 * text folded.
 */
export function stringifyYaml(value: JsonValue): string {
  return [...yamlParts(value)].join("");
}

/** Does the same in parts, so that others can have a turn between them. */
export function* yamlParts(value: JsonValue): Generator<string> {
  const lines: string[] = [];
  if (isCollection(value)) yield* collectionParts(lines, value, "", "");
  else lines.push(scalarText(value, "", 0));
  if (lines.length > 0) yield textOf(lines);
}

/** Lines of one part. */
const partLines = 1_000;

function textOf(lines: readonly string[]): string {
  return `${lines.join("\n")}\n`;
}

type Collection = JsonObject | JsonValue[];

/** Reports whether a value is a list or map that is not empty; empty ones fit on a line. */
function isCollection(value: JsonValue): value is Collection {
  return typeof value === "object" && value !== null && Object.keys(value).length > 0;
}

/**
 * Adds a collection to the lines, and yields them when they are a part. `first` replaces the indentation of the first
 * line: the dashes of the lists around it.
 */
function* collectionParts(lines: string[], value: Collection, indent: string, first: string): Generator<string> {
  let lead = first;
  if (Array.isArray(value)) {
    for (const item of value) {
      if (lines.length >= partLines) yield textOf(lines.splice(0));
      if (isCollection(item)) yield* collectionParts(lines, item, `${indent}  `, `${lead}- `);
      else lines.push(`${lead}- ${scalarText(item, `${indent}  `, lead.length + 2)}`);
      lead = indent;
    }
    return;
  }
  for (const key of Object.keys(value).sort()) {
    if (lines.length >= partLines) yield textOf(lines.splice(0));
    const item = value[key] as JsonValue;
    const head = `${lead}${quoteIfNeeded(key)}:`;
    lead = indent;
    if (!isCollection(item)) {
      lines.push(`${head} ${scalarText(item, `${indent}  `, head.length + 1)}`);
      continue;
    }
    lines.push(head);
    const inner = isJsonObject(item) ? `${indent}  ` : indent;
    yield* collectionParts(lines, item, inner, inner);
  }
}

/**
 * Writes a value other than a collection.
 * @param indent of further lines
 * @param column in which the value starts
 */
function scalarText(value: JsonValue, indent: string, column: number): string {
  if (typeof value === "string") {
    return isBlockText(value) ? blockText(value, indent) : folded(quoteIfNeeded(value), indent, column);
  }
  if (Array.isArray(value)) return "[]";
  if (isJsonObject(value)) return "{}";
  return String(value);
}

const beyondPlain = /[^\x20-\x7e\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/;
const beyondBlock = /[^\n\x20-\x7e\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]/;
const indicatorFirst = /^(?:-(?:\s|$|--)|[?:,[\]{}#&*!|>'"%@`\s=<])/;
const indicatorInside = /: |:$| #|\s$/;

/** Reports whether a text can be written as a block: several printable lines, the first not starting with a space. */
function isBlockText(text: string): boolean {
  const lineEnd = text.indexOf("\n");
  return lineEnd > 0 && !/^[\s]/.test(text) && !beyondBlock.test(text);
}

function blockText(text: string, indent: string): string {
  const body = text.replace(/\n+$/, "");
  const ends = text.length - body.length;
  const chomping = ends === 0 ? "-" : ends === 1 ? "" : "+";
  const lines = body.split("\n").map((line) => (line === "" ? "" : indent + line));
  for (let extra = 1; extra < ends; extra++) lines.push("");
  return [`|${chomping}`, ...lines].join("\n");
}

/** A line is broken at the first single space beyond this column. */
const lineColumns = 80;

/** Breaks a long text into lines; readers put a space where a line ends. */
function folded(text: string, indent: string, column: number): string {
  if (column + text.length <= lineColumns) return text;
  const isEscaped = text.startsWith('"');
  const isQuoted = isEscaped || text.startsWith("'");
  let result = "";
  let start = 0;
  let at = column;
  for (let index = 0; index < text.length; index++, at++) {
    if (isLowSurrogate(text.charCodeAt(index))) at--;
    if (text[index] !== " " || at <= lineColumns || text[index - 1] === " ") continue;
    const isBeforeSpace = text[index + 1] === " ";
    const isAtQuote = isQuoted && (index === 1 || index === text.length - 2);
    if (isAtQuote || (isBeforeSpace && !isEscaped)) continue;
    result += `${text.slice(start, index)}\n${indent}${isBeforeSpace ? "\\" : ""}`;
    start = index + 1;
    at = indent.length - 1 + (isBeforeSpace ? 1 : 0);
  }
  return result + text.slice(start);
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}

const plainWordMax = 1_024;

function quoteIfNeeded(text: string): string {
  if (beyondPlain.test(text)) return escapeNonPrintable(JSON.stringify(text));
  // Readers look for the colon only within this length.
  const isTooLong = text.length > plainWordMax && text.includes(":");
  const plain = !isTooLong && !indicatorFirst.test(text) && !indicatorInside.test(text);
  if (resolvePlainScalar(text) !== text || (text !== "." && /^[-+.]*$/.test(text)) || looksLikeTime(text))
    return JSON.stringify(text);
  if (plain) return text;
  return `'${text.replaceAll("'", "''")}'`;
}

/** Reports whether readers that know timestamps would take the text for one. */
function looksLikeTime(text: string): boolean {
  return /^\d{4}-\d\d?-\d\d?/.test(text) || /^\d+:\d\d/.test(text);
}

/** Escapes characters that JSON allows and YAML does not. */
function escapeNonPrintable(json: string): string {
  return json.replace(
    /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
