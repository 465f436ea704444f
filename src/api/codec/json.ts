import { atOnce } from "../../process/sliced.ts";
import { emptyJsonObject, type JsonObject, type JsonValue, replaceBigInt } from "../json.ts";
import { status } from "../status.ts";
import { copyOfText } from "./byte-text.ts";
import { jsonExtent } from "./json-extent.ts";

/** Deeper objects and lists are rejected, so that code that walks a document may recurse. */
export const jsonDepthMax = 1_000;
/** Limit of the repeated keys that are reported one by one. */
export const duplicatesMax = 100;

const int64Min = -(2n ** 63n);
const uint64Max = 2n ** 64n - 1n;
const uint64DigitsMax = 20;
const safeDigits = 15;

/** Thrown for bytes that are not one JSON document. Messages follow Go's encoding/json, because clients print them. */
export class JsonSyntaxError extends Error {
  /** Offset in the input, in bytes. */
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.name = "JsonSyntaxError";
    this.offset = offset;
  }
}

export interface ParsedDocument {
  readonly value: JsonValue;
  /**
   * Paths of keys that occur more than once in their object (`spec.list[0].b`), each listed once; the last value wins.
   */
  readonly duplicates: readonly string[];
}

/** How a text is parsed. */
export interface ParseOptions {
  /** Whether to look for repeated keys. */
  readonly strict: boolean;
  readonly valuesMax?: number;
}

/**
 * Parses one JSON document. Integers that fit 64 bits but not a double become BigInt; invalid UTF-8 and lone surrogates
 * become U+FFFD, as in Go.
 * @throws JsonSyntaxError, and StatusError 413 for more than `valuesMax` values
 */
export function parseJson(bytes: Uint8Array, options: ParseOptions): ParsedDocument {
  return atOnce(parseJsonInSteps(bytes, options));
}

/** Does the same, and yields between its passes over the text. */
export function* parseJsonInSteps(
  bytes: Uint8Array,
  { strict, valuesMax }: ParseOptions,
): Generator<void, ParsedDocument> {
  const text = textDecoder.decode(bytes);
  const extent = jsonExtent(text);
  // The native parser cannot stop half way. Every value but the last is followed by a comma or bracket.
  if (valuesMax !== undefined && text.length >= 2 * valuesMax && extent.values > valuesMax)
    throw status.tooManyValues(valuesMax);
  yield;
  const value = parseNatively(text, extent);
  yield;
  // A repeated key leaves fewer members in the value than in the text. Only our own parser knows its place.
  const hasRepeatedKeys = strict && value !== undefined && memberCount(value) < extent.members;
  if (value !== undefined && !hasRepeatedKeys) return { value, duplicates: [] };
  yield;
  const parsed = yield* new JsonParser(text).parse();
  return strict ? parsed : { value: parsed.value, duplicates: [] };
}

/** Returns the number of members of all objects in a document. */
function memberCount(value: JsonValue): number {
  if (typeof value !== "object" || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === "object") count += memberCount(item);
    return count;
  }
  for (const key in value) {
    count++;
    const part = value[key] as JsonValue;
    if (typeof part === "object") count += memberCount(part);
  }
  return count;
}

/** Parses one JSON document, and does not look for repeated keys. @throws JsonSyntaxError */
export function parseJsonText(text: string, extent = jsonExtent(text)): JsonValue {
  return parseNatively(text, extent) ?? atOnce(new JsonParser(text).parse()).value;
}

/**
 * Writes compact JSON, or JSON indented by `indent` spaces. BigInt keeps all its digits; `<`, `>`, `&`, U+2028 and
 * U+2029 are escaped as in Go's encoder.
 */
export function stringifyJson(value: JsonValue, indent = 0): string {
  const text = stringifyExactly(value, indent);
  return escapedByGo.test(text) ? escapeAsGo(text) : text;
}

/** Replaces one character after the other, at a fifth of the cost of a pattern with a function. */
function escapeAsGo(text: string): string {
  return goEscapes.reduce((escaped, [character, escape]) => escaped.replaceAll(character, escape), text);
}

/** Keeps a byte order mark, which the parser then rejects. */
const textDecoder = new TextDecoder("utf-8", { ignoreBOM: true });
const escapedByGo = /[<>&\u2028\u2029]/;
const goEscapes = ["<", ">", "&", "\u2028", "\u2029"].map(
  (character) => [character, escapeCharacter(character)] as const,
);

/**
 * Parses with the native parser; undefined if the document is malformed, or if our own parser would read it differently
 * or refuse it. Our own parser also finds the message.
 */
export function parseNatively(text: string, extent = jsonExtent(text)): JsonValue | undefined {
  const { depth, hasPlainNumbers } = extent;
  if (depth > jsonDepthMax || !hasPlainNumbers || text.includes("\\ud") || text.includes("\\uD")) return undefined;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** Reports whether lists and objects nest more than `levels` deep. */
export function isDeeperThan(value: JsonValue, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (const item of value) if (isDeeperThan(item, levels - 1)) return true;
    return false;
  }
  for (const key in value) if (isDeeperThan(value[key] as JsonValue, levels - 1)) return true;
  return false;
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function stringifyExactly(value: JsonValue, indent: number): string {
  try {
    return JSON.stringify(value, undefined, indent);
  } catch (error) {
    // The document has a BigInt somewhere. This is rare, and the replacer is slow, so it is used only here.
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(value, replaceBigInt, indent);
  }
}

const code = {
  quote: 0x22,
  plus: 0x2b,
  comma: 0x2c,
  minus: 0x2d,
  dot: 0x2e,
  zero: 0x30,
  nine: 0x39,
  colon: 0x3a,
  openBracket: 0x5b,
  backslash: 0x5c,
  closeBracket: 0x5d,
  openBrace: 0x7b,
  closeBrace: 0x7d,
} as const;

const simpleEscapes: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

/** Members and items that are parsed without a pause. */
const stepParts = 1_000;

class JsonParser {
  readonly #text: string;
  #at = 0;
  #parts = 0;
  #depth = 0;
  /** The key or index being read at each depth. */
  readonly #path: (string | number)[] = [];
  readonly #duplicates = new Set<string>();

  constructor(text: string) {
    this.#text = text;
  }

  /** Yields now and then. */
  *parse(): Generator<void, ParsedDocument> {
    const value = yield* this.#value();
    this.#skipSpace();
    if (this.#at < this.#text.length) this.#fail("after top-level value");
    return { value, duplicates: [...this.#duplicates] };
  }

  *#value(): Generator<void, JsonValue> {
    return this.#startsContainer() ? yield* this.#container() : this.#scalar();
  }

  #startsContainer(): boolean {
    this.#skipSpace();
    const first = this.#text.charCodeAt(this.#at);
    return first === code.openBrace || first === code.openBracket;
  }

  #container(): Generator<void, JsonValue> {
    return this.#text.charCodeAt(this.#at) === code.openBrace ? this.#object() : this.#list();
  }

  #scalar(): JsonValue {
    const first = this.#text.charCodeAt(this.#at);
    if (first === code.quote) return this.#string();
    if (first === code.minus || isDigit(first)) return this.#number();
    if (first === 0x74) return this.#literal("true", true);
    if (first === 0x66) return this.#literal("false", false);
    if (first === 0x6e) return this.#literal("null", null);
    return this.#fail("looking for beginning of value");
  }

  *#object(): Generator<void, JsonObject> {
    this.#descend();
    const object = emptyJsonObject();
    this.#skipSpace();
    if (this.#take(code.closeBrace)) return this.#ascend(object);
    for (;;) {
      this.#skipSpace();
      if (this.#text.charCodeAt(this.#at) !== code.quote) this.#fail("looking for beginning of object key string");
      const key = this.#string();
      this.#path[this.#depth] = key;
      if (key in object) this.#noteDuplicate();
      this.#skipSpace();
      if (!this.#take(code.colon)) this.#fail("after object key");
      object[key] = this.#startsContainer() ? yield* this.#container() : this.#scalar();
      if (++this.#parts % stepParts === 0) yield;
      this.#skipSpace();
      if (this.#take(code.comma)) continue;
      if (this.#take(code.closeBrace)) return this.#ascend(object);
      this.#fail("after object key:value pair");
    }
  }

  *#list(): Generator<void, JsonValue[]> {
    this.#descend();
    const list: JsonValue[] = [];
    this.#skipSpace();
    if (this.#take(code.closeBracket)) return this.#ascend(list);
    for (;;) {
      this.#path[this.#depth] = list.length;
      list.push(this.#startsContainer() ? yield* this.#container() : this.#scalar());
      if (++this.#parts % stepParts === 0) yield;
      this.#skipSpace();
      if (this.#take(code.comma)) continue;
      if (this.#take(code.closeBracket)) return this.#ascend(list);
      this.#fail("after array element");
    }
  }

  #descend(): void {
    this.#depth += 1;
    if (this.#depth > jsonDepthMax) this.#fail("exceeded max depth");
    this.#at += 1;
  }

  #ascend<T>(value: T): T {
    this.#depth -= 1;
    return value;
  }

  #noteDuplicate(): void {
    if (this.#duplicates.size >= duplicatesMax) return;
    this.#duplicates.add(pathText(this.#path, this.#depth));
  }

  #string(): string {
    const text = this.#text;
    const start = this.#at + 1;
    for (let at = start; at < text.length; at++) {
      const next = text.charCodeAt(at);
      if (next === code.quote) {
        this.#at = at + 1;
        return copyOfText(text.slice(start, at));
      }
      if (next === code.backslash || next < 0x20) return this.#stringWithEscapes(start, at);
    }
    this.#at = text.length;
    return this.#fail("in string literal");
  }

  #stringWithEscapes(start: number, firstEscape: number): string {
    const parts: string[] = [];
    let from = start;
    this.#at = firstEscape;
    for (;;) {
      const next = this.#text.charCodeAt(this.#at);
      if (next === code.quote) {
        parts.push(this.#text.slice(from, this.#at));
        this.#at += 1;
        return parts.join("").toWellFormed();
      }
      if (next === code.backslash) {
        parts.push(this.#text.slice(from, this.#at), this.#escape());
        from = this.#at;
      } else if (next >= 0x20) {
        this.#at += 1;
      } else {
        this.#fail("in string literal");
      }
    }
  }

  #escape(): string {
    this.#at += 1;
    const letter = this.#text[this.#at] ?? "";
    const simple = simpleEscapes[letter];
    if (simple !== undefined) {
      this.#at += 1;
      return simple;
    }
    if (letter !== "u") return this.#fail("in string escape code");
    let unit = 0;
    for (let digit = 0; digit < 4; digit++) {
      this.#at += 1;
      const value = hexValue(this.#text.charCodeAt(this.#at));
      if (value === undefined) return this.#fail("in \\u hexadecimal character escape");
      unit = unit * 16 + value;
    }
    this.#at += 1;
    return String.fromCharCode(unit);
  }

  #number(): number | bigint {
    const start = this.#at;
    this.#take(code.minus);
    if (!this.#take(code.zero)) this.#digits("in numeric literal");
    let isInteger = true;
    if (this.#take(code.dot)) {
      isInteger = false;
      this.#digits("after decimal point in numeric literal");
    }
    const next = this.#text.charCodeAt(this.#at);
    if (next === 0x65 || next === 0x45) {
      isInteger = false;
      this.#at += 1;
      if (!this.#take(code.plus)) this.#take(code.minus);
      this.#digits("in exponent of numeric literal");
    }
    const value = parseNumber(this.#text.slice(start, this.#at), isInteger);
    if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) {
      const shown = this.#text.slice(start, Math.min(this.#at, start + 40));
      throw new JsonSyntaxError(
        `json: cannot unmarshal number ${shown} into Go value of type float64`,
        this.#byteOffset(start),
      );
    }
    return value;
  }

  #digits(where: string): void {
    if (!isDigit(this.#text.charCodeAt(this.#at))) this.#fail(where);
    do this.#at += 1;
    while (isDigit(this.#text.charCodeAt(this.#at)));
  }

  #literal<T>(word: string, value: T): T {
    for (let at = 1; at < word.length; at++) {
      if (this.#text[this.#at + at] === word[at]) continue;
      this.#at += at;
      this.#fail(`in literal ${word} (expecting '${word[at]}')`);
    }
    this.#at += word.length;
    return value;
  }

  #take(wanted: number): boolean {
    if (this.#text.charCodeAt(this.#at) !== wanted) return false;
    this.#at += 1;
    return true;
  }

  #skipSpace(): void {
    for (;;) {
      const next = this.#text.charCodeAt(this.#at);
      if (next !== 0x20 && next !== 0x0a && next !== 0x0d && next !== 0x09) return;
      this.#at += 1;
    }
  }

  #fail(where: string): never {
    if (this.#at >= this.#text.length) throw new JsonSyntaxError("unexpected end of JSON input", this.#byteOffset());
    throw new JsonSyntaxError(`invalid character ${quoteByteAt(this.#text, this.#at)} ${where}`, this.#byteOffset());
  }

  #byteOffset(at = this.#at): number {
    return Buffer.byteLength(this.#text.slice(0, at));
  }
}

/** Parses a number: a double when it is exact, a BigInt when 64 bits hold it, else the nearest double. */
export function parseNumber(text: string, isInteger: boolean): number | bigint {
  const value = Number(text);
  if (!isInteger || text.length <= safeDigits || Number.isSafeInteger(value)) return value;
  if (text.length > uint64DigitsMax) return value;
  const exact = BigInt(text);
  return exact >= int64Min && exact <= uint64Max ? exact : value;
}

/** Writes the parts 1 … depth of a path as `spec.list[0].b`. */
export function pathText(path: readonly (string | number)[], depth: number): string {
  let text = "";
  for (let level = 1; level <= depth; level++) {
    const part = path[level] as string | number;
    if (typeof part === "number") text += `[${part}]`;
    else text += text === "" ? part : `.${part}`;
  }
  return text;
}

function isDigit(character: number): boolean {
  return character >= code.zero && character <= code.nine;
}

function hexValue(character: number): number | undefined {
  if (isDigit(character)) return character - code.zero;
  const lower = character | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x61 + 10 : undefined;
}

/** Quotes the offending byte as Go shows it: the first byte of the character in UTF-8. */
function quoteByteAt(text: string, at: number): string {
  const first = Buffer.from(String.fromCodePoint(text.codePointAt(at) as number))[0] as number;
  if (first === 0x27) return "'\\''";
  if (first === 0x22) return "'\"'";
  const named = { 7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r", 92: "\\\\" }[first];
  if (named !== undefined) return `'${named}'`;
  if (first < 0x20 || first === 0x7f) return `'\\x${first.toString(16).padStart(2, "0")}'`;
  return `'${String.fromCharCode(first)}'`;
}
