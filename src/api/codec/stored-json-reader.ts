import { copyOfBytes, toText } from "./byte-text.ts";

const quote = 0x22;
const comma = 0x2c;
const dot = 0x2e;
const digitZero = 0x30;
const digitNine = 0x39;
const colon = 0x3a;
const letterZ = 0x5a;
const openBracket = 0x5b;
export const backslash = 0x5c;
const closeBracket = 0x5d;
const letterA = 0x61;
const letterD = 0x64;
const letterE = 0x65;
const letterF = 0x66;
const letterN = 0x6e;
const letterT = 0x74;
export const letterU = 0x75;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const lowerCase = 0x20;

/** Digits of the longest integer that is exact as a number. */
const exactDigits = 15;
/** Bytes that are searched in a loop before a call, which takes longer for a short text. */
const nearBytes = 16;

/** Bytes of a time with its quotes. */
const timeBytes = 22;
const secondMs = 1_000;
const epochYear = 1970;

const indexOf = Buffer.prototype.indexOf;

/** Thrown for JSON that is not written as the store writes it. */
export const unexpectedForm: Error = new Error("the JSON is not in the form of a stored body");

/**
 * Reads the bytes of a stored body from front to back, without decoding them. There is no space between values. Methods
 * throw `unexpectedForm` for JSON that they do not expect.
 */
export class StoredJsonReader {
  readonly bytes: Uint8Array;
  /** Position of the next byte. */
  at = 0;
  /** Position of the backslash that the last search found; there is none between the start of that search and it. */
  #backslashAt = -1;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  get atEnd(): boolean {
    return this.at === this.bytes.length;
  }

  get atText(): boolean {
    return this.bytes[this.at] === quote;
  }

  get atObject(): boolean {
    return this.bytes[this.at] === openBrace;
  }

  enterObject(): void {
    this.#pass(openBrace);
  }

  enterList(): void {
    this.#pass(openBracket);
  }

  leaveObject(): void {
    this.#pass(closeBrace);
  }

  /** Passes the end of a list or object, if it is next. */
  passEnd(): boolean {
    const byte = this.bytes[this.at];
    if (byte !== closeBracket && byte !== closeBrace) return false;
    this.at++;
    return true;
  }

  /** Passes a comma, if it is next. */
  passComma(): void {
    if (this.bytes[this.at] === comma) this.at++;
  }

  /** Passes a key, if it is next. @param key with its quotes and colon */
  passKey(key: Uint8Array): boolean {
    const { bytes, at: start } = this;
    for (let at = 0; at < key.length; at++) if (bytes[start + at] !== key[at]) return false;
    this.at = start + key.length;
    return true;
  }

  passColon(): void {
    this.#pass(colon);
  }

  /** Passes `null`, if it is next. */
  passNull(): boolean {
    if (this.bytes[this.at] !== letterN) return false;
    this.at += "null".length;
    return true;
  }

  flag(): boolean {
    const first = this.bytes[this.at];
    if (first !== letterT && first !== letterF) throw unexpectedForm;
    this.at += first === letterT ? "true".length : "false".length;
    return first === letterT;
  }

  /** Reads an integer of at most 15 digits. Returns undefined, without moving, for any other number. */
  naturalNumber(): number | undefined {
    const { bytes } = this;
    let at = this.at;
    let value = 0;
    for (; isDigit(bytes[at]); at++) value = value * 10 + (bytes[at] as number) - digitZero;
    const next = bytes[at];
    const digits = at - this.at;
    if (digits === 0 || digits > exactDigits || next === dot || next === letterE) return undefined;
    this.at = at;
    return value;
  }

  /** Reads a text such as `"2026-01-31T23:59:59Z"` as seconds since 1970. Returns undefined, without moving, for others. */
  utcSeconds(): number | undefined {
    const { bytes, at } = this;
    if (bytes[at + timeBytes - 1] !== quote || bytes[at + timeBytes - 2] !== letterZ) return undefined;
    const year = this.#digits(at + 1, 4);
    const days = Date.UTC(year, this.#digits(at + 6, 2) - 1, this.#digits(at + 9, 2)) / secondMs;
    const seconds = days + this.#digits(at + 12, 2) * 3_600 + this.#digits(at + 15, 2) * 60 + this.#digits(at + 18, 2);
    if (!(year >= epochYear)) return undefined;
    this.at = at + timeBytes;
    return seconds;
  }

  /** Returns the number of four hexadecimal digits at a position. */
  hexNumber(at: number): number {
    let value = 0;
    for (let next = at; next < at + 4; next++) {
      const byte = this.bytes[next] as number;
      value = value * 16 + (isDigit(byte) ? byte - digitZero : (byte | lowerCase) - letterA + 10);
    }
    return value;
  }

  /** Passes a text without escapes, and returns the position of its end; its start is behind the quote. */
  passText(): number {
    const end = this.plainTextEnd();
    if (end === undefined) throw unexpectedForm;
    this.at = end + 1;
    return end;
  }

  /** Returns the end of the text that is next, without moving; undefined if it has escapes. */
  plainTextEnd(): number | undefined {
    const { bytes } = this;
    if (bytes[this.at] !== quote) throw unexpectedForm;
    const near = this.at + 1 + nearBytes;
    for (let at = this.at + 1; at < near; at++) {
      const byte = bytes[at];
      if (byte === quote) return at;
      if (byte === backslash) return undefined;
      if (byte === undefined) throw unexpectedForm;
    }
    const end = indexOf.call(bytes, quote, near);
    if (end < 0) throw unexpectedForm;
    if (this.#backslashAt < near) {
      const found = indexOf.call(bytes, backslash, near);
      this.#backslashAt = found < 0 ? bytes.length : found;
    }
    return this.#backslashAt < end ? undefined : end;
  }

  /** Returns the end of a text, whose first byte is at `from`. */
  textEnd(from: number): number {
    const { bytes } = this;
    for (let at = from; ; at++) {
      const byte = bytes[at];
      if (byte === quote) return at;
      if (byte === undefined) throw unexpectedForm;
      if (byte !== backslash) continue;
      at++;
      // A surrogate may be alone, and then decoding would replace it.
      if (bytes[at] === letterU && ((bytes[at + 1] as number) | lowerCase) === letterD) throw unexpectedForm;
    }
  }

  /** Passes a value of any type. */
  passValue(): void {
    const { bytes, at: start } = this;
    let depth = 0;
    let at = start;
    for (; ; at++) {
      const byte = bytes[at];
      if (byte === quote) {
        at = this.textEnd(at + 1);
      } else if (byte === openBrace || byte === openBracket) {
        depth++;
      } else if (byte === closeBrace || byte === closeBracket) {
        if (depth === 0) break;
        depth--;
      } else if (byte === undefined || (byte === comma && depth === 0)) {
        break;
      }
    }
    if (at === start) throw unexpectedForm;
    this.at = at;
  }

  /** Compares two parts of the JSON byte by byte. */
  isBefore(from: number, to: number, otherFrom: number, otherTo: number): boolean {
    const { bytes } = this;
    const length = Math.min(to - from, otherTo - otherFrom);
    for (let at = 0; at < length; at++) {
      const difference = (bytes[from + at] as number) - (bytes[otherFrom + at] as number);
      if (difference !== 0) return difference < 0;
    }
    return to - from < otherTo - otherFrom;
  }

  /** Returns the JSON from a position up to the next byte. */
  textFrom(start: number): string {
    return toText(copyOfBytes(this.bytes, start, this.at));
  }

  #pass(byte: number): void {
    if (this.bytes[this.at] !== byte) throw unexpectedForm;
    this.at++;
  }

  #digits(from: number, count: number): number {
    let value = 0;
    for (let at = from; at < from + count; at++) value = value * 10 + (this.bytes[at] as number) - digitZero;
    return value;
  }
}

function isDigit(byte: number | undefined): boolean {
  return (byte as number) >= digitZero && (byte as number) <= digitNine;
}
