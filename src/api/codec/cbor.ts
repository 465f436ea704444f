import { compareTexts } from "../code-points.ts";
import { emptyJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import { hasMoreValues, ordinaryBytesMax } from "../object-extent.ts";
import { status } from "../status.ts";

/** Upstream's limit on lists, maps and tags inside each other. */
export const cborDepthMax = 64;

/** Thrown for bytes that are not one CBOR item, or that JSON cannot represent. */
export class CborDecodeError extends Error {
  constructor(message: string) {
    super(`cbor: ${message}`);
    this.name = "CborDecodeError";
  }
}

const major = { unsigned: 0, negative: 1, bytes: 2, text: 3, list: 4, map: 5, tag: 6, simple: 7 } as const;
const tags = { text: 0, epoch: 1, bignum: 2, negativeBignum: 3, base64Url: 21, base64: 22, base16: 23 } as const;
const selfDescribed = Uint8Array.of(0xd9, 0xd9, 0xf7);
const breakByte = 0xff;
const int64Min = -(2n ** 63n);
const uint64Max = 2n ** 64n - 1n;

/**
 * Encodes a document as one CBOR item behind the self-describing tag. Text and keys are byte strings, keys are in
 * bytewise order of their encoded form, and numbers have their shortest exact form: the same document always gives the
 * same bytes.
 */
export function encodeCbor(value: JsonValue): Uint8Array {
  const writer = new CborWriter();
  writer.raw(selfDescribed);
  writer.value(value);
  return writer.finish();
}

/** Does the same, and yields now and then. */
export function* encodeCborInSteps(value: JsonValue): Generator<void, Uint8Array> {
  const writer = new CborWriter();
  writer.raw(selfDescribed);
  yield* writer.valueInSteps(value);
  return writer.finish();
}

/**
 * Decodes one item, with or without the self-describing tag. Byte strings are text; behind the tags 21 to 23 they are
 * binary and become base64url, base64 or hexadecimal text. Integers beyond 2^53 become BigInt. Rejects repeated keys,
 * keys that are not text, bignums, NaN, infinities and trailing bytes.
 * @throws CborDecodeError, and StatusError 413 for more than `valuesMax` values
 */
export function decodeCbor(bytes: Uint8Array, valuesMax = Number.POSITIVE_INFINITY): JsonValue {
  return new CborReader(bytes, valuesMax).document();
}

/** Does the same, and yields now and then if there are many bytes. */
export function* decodeCborInSteps(bytes: Uint8Array, valuesMax: number): Generator<void, JsonValue> {
  const reader = new CborReader(bytes, valuesMax);
  return bytes.length <= ordinaryBytesMax ? reader.document() : yield* reader.documentInSteps();
}

const initialBytes = 1_024;
/** Values that are encoded without a pause. */
const stepValues = 1_000;

class CborWriter {
  #buffer: Buffer = Buffer.allocUnsafe(initialBytes);
  #at = 0;

  finish(): Uint8Array {
    return new Uint8Array(this.#buffer.subarray(0, this.#at));
  }

  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#buffer.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  value(value: JsonValue): void {
    if (typeof value === "string") this.#text(value);
    else if (typeof value === "number") this.#number(value);
    else if (typeof value === "bigint") this.#integer(value);
    else if (value === null) this.#byte(0xf6);
    else if (typeof value === "boolean") this.#byte(value ? 0xf5 : 0xf4);
    else if (Array.isArray(value)) this.#list(value);
    else this.#map(value);
  }

  /** Writes a value, with pauses between the parts of a large one. */
  *valueInSteps(value: JsonValue): Generator<void> {
    yield;
    if (!isContainer(value) || !hasMoreValues(value, stepValues)) {
      this.value(value);
      return;
    }
    if (Array.isArray(value)) {
      this.#head(major.list, value.length);
      for (const [at, item] of value.entries()) {
        if (at % stepValues === 0) yield;
        if (isContainer(item)) yield* this.valueInSteps(item);
        else this.value(item);
      }
      return;
    }
    for (const [at, key] of this.#startMap(value).entries()) {
      if (at % stepValues === 0) yield;
      this.#text(key);
      const item = value[key] as JsonValue;
      if (isContainer(item)) yield* this.valueInSteps(item);
      else this.value(item);
    }
  }

  #list(list: readonly JsonValue[]): void {
    this.#head(major.list, list.length);
    for (const item of list) this.value(item);
  }

  #map(object: JsonObject): void {
    for (const key of this.#startMap(object)) {
      this.#text(key);
      this.value(object[key] as JsonValue);
    }
  }

  /** Writes the head of a map. Returns its keys in order. */
  #startMap(object: JsonObject): readonly string[] {
    const entries = Object.keys(object).map((key) => ({ key, bytes: Buffer.byteLength(key) }));
    // The head of a key grows with its length, so shorter keys come first.
    entries.sort((a, b) => a.bytes - b.bytes || compareTexts(a.key, b.key));
    this.#head(major.map, entries.length);
    return entries.map(({ key }) => key);
  }

  #text(text: string): void {
    const length = Buffer.byteLength(text);
    this.#head(major.bytes, length);
    this.#reserve(length);
    this.#buffer.write(text, this.#at);
    this.#at += length;
  }

  #number(value: number): void {
    if (Number.isSafeInteger(value)) {
      if (value < 0) this.#head(major.negative, -1 - value);
      else this.#head(major.unsigned, value);
      return;
    }
    if (!Number.isFinite(value)) throw new Error("cbor: a document holds no NaN and no infinity");
    this.#float(value);
  }

  #integer(value: bigint): void {
    if (value < int64Min || value > uint64Max) throw new Error("cbor: integer beyond 64 bits");
    const type = value < 0n ? major.negative : major.unsigned;
    const argument = value < 0n ? -1n - value : value;
    if (argument <= BigInt(Number.MAX_SAFE_INTEGER)) {
      this.#head(type, Number(argument));
      return;
    }
    this.#reserve(9);
    this.#buffer[this.#at] = (type << 5) | 27;
    this.#buffer.writeBigUInt64BE(argument, this.#at + 1);
    this.#at += 9;
  }

  #float(value: number): void {
    this.#reserve(9);
    const half = halfBits(value);
    if (half !== undefined) {
      this.#buffer[this.#at] = 0xf9;
      this.#buffer.writeUInt16BE(half, this.#at + 1);
      this.#at += 3;
    } else if (Math.fround(value) === value) {
      this.#buffer[this.#at] = 0xfa;
      this.#buffer.writeFloatBE(value, this.#at + 1);
      this.#at += 5;
    } else {
      this.#buffer[this.#at] = 0xfb;
      this.#buffer.writeDoubleBE(value, this.#at + 1);
      this.#at += 9;
    }
  }

  #head(type: number, argument: number): void {
    this.#reserve(9);
    const initial = type << 5;
    const at = this.#at;
    if (argument < 24) {
      this.#buffer[at] = initial | argument;
      this.#at += 1;
    } else if (argument < 0x100) {
      this.#buffer[at] = initial | 24;
      this.#buffer[at + 1] = argument;
      this.#at += 2;
    } else if (argument < 0x1_0000) {
      this.#buffer[at] = initial | 25;
      this.#buffer.writeUInt16BE(argument, at + 1);
      this.#at += 3;
    } else if (argument < 0x1_0000_0000) {
      this.#buffer[at] = initial | 26;
      this.#buffer.writeUInt32BE(argument, at + 1);
      this.#at += 5;
    } else {
      this.#buffer[at] = initial | 27;
      this.#buffer.writeBigUInt64BE(BigInt(argument), at + 1);
      this.#at += 9;
    }
  }

  #byte(byte: number): void {
    this.#reserve(1);
    this.#buffer[this.#at] = byte;
    this.#at += 1;
  }

  #reserve(count: number): void {
    const needed = this.#at + count;
    if (needed <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2));
    grown.set(this.#buffer.subarray(0, this.#at));
    this.#buffer = grown;
  }
}

function isContainer(value: JsonValue): value is JsonValue[] | JsonObject {
  return typeof value === "object" && value !== null;
}

/** Returns the half-precision bits of a number that has an exact half; undefined for any other. */
function halfBits(value: number): number | undefined {
  const sign = value < 0 ? 0x8000 : 0;
  const size = Math.abs(value);
  if (size > 65_504) return undefined;
  const exponent = size < 2 ** -14 ? -14 : Math.floor(Math.log2(size));
  const steps = size / 2 ** (exponent - 10);
  if (!Number.isInteger(steps)) return undefined;
  return size < 2 ** -14 ? sign | steps : sign | ((exponent + 15) << 10) | (steps - 1_024);
}

const textDecoder = new TextDecoder("utf-8", { ignoreBOM: true });
const strictTextDecoder = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });
const indefinite = -1;

class CborReader {
  readonly #bytes: Buffer;
  #at = 0;
  #depth = 0;
  #values = 0;
  readonly #valuesMax: number;

  constructor(bytes: Uint8Array, valuesMax: number) {
    this.#valuesMax = valuesMax;
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  document(): JsonValue {
    return this.#whole(this.#value());
  }

  *documentInSteps(): Generator<void, JsonValue> {
    return this.#whole(yield* this.#valueInSteps());
  }

  #whole(value: JsonValue): JsonValue {
    const rest = this.#bytes.length - this.#at;
    if (rest > 0) throw new CborDecodeError(`${rest} bytes of extraneous data starting at index ${this.#at}`);
    return value;
  }

  /** Reads a value with a pause after each `stepValues` values. */
  *#valueInSteps(): Generator<void, JsonValue> {
    const initial = this.#bytes[this.#at] ?? 0;
    const isMarked = selfDescribed.every((byte, at) => this.#bytes[this.#at + at] === byte);
    const type = initial >> 5;
    if (!isMarked && type !== major.list && type !== major.map) return this.#value();
    this.#count();
    this.#enter();
    this.#at += isMarked ? selfDescribed.length : 1;
    const value = isMarked
      ? yield* this.#valueInSteps()
      : type === major.list
        ? yield* this.#listInSteps(initial & 31)
        : yield* this.#mapInSteps(initial & 31);
    this.#depth -= 1;
    return value;
  }

  *#listInSteps(info: number): Generator<void, JsonValue[]> {
    const count = this.#length(info, 1);
    const list: JsonValue[] = [];
    while (count === indefinite ? !this.#takeBreak() : list.length < count) {
      list.push(yield* this.#valueInSteps());
      if (this.#values % stepValues === 0) yield;
    }
    return list;
  }

  *#mapInSteps(info: number): Generator<void, JsonObject> {
    const count = this.#length(info, 2);
    const object = emptyJsonObject();
    for (let pairs = 0; count === indefinite ? !this.#takeBreak() : pairs < count; pairs++) {
      const key = this.#key(object, pairs);
      object[key] = yield* this.#valueInSteps();
      if (this.#values % stepValues === 0) yield;
    }
    return object;
  }

  #value(): JsonValue {
    this.#count();
    const initial = this.#byte();
    const type = initial >> 5;
    const info = initial & 31;
    switch (type) {
      case major.unsigned:
        return this.#argument(info);
      case major.negative:
        return this.#negative(info);
      case major.bytes:
      case major.text:
        return this.#text(type, info);
      case major.list:
        return this.#nested(() => this.#list(info));
      case major.map:
        return this.#nested(() => this.#map(info));
      case major.tag:
        return this.#nested(() => this.#tagged(info));
      default:
        return this.#simple(info);
    }
  }

  #count(): void {
    if (++this.#values > this.#valuesMax) throw status.tooManyValues(this.#valuesMax);
  }

  #nested<T>(read: () => T): T {
    this.#enter();
    const value = read();
    this.#depth -= 1;
    return value;
  }

  #enter(): void {
    this.#depth += 1;
    if (this.#depth > cborDepthMax) throw new CborDecodeError(`exceeded max nested level ${cborDepthMax}`);
  }

  #negative(info: number): number | bigint {
    const argument = this.#argument(info);
    if (typeof argument === "number" && argument < Number.MAX_SAFE_INTEGER) return -1 - argument;
    const value = -1n - BigInt(argument);
    if (value < int64Min) throw new CborDecodeError("integer overflows int64");
    return value;
  }

  #text(type: number, info: number): string {
    const bytes = this.#stringBytes(type, info);
    if (type === major.bytes) return textDecoder.decode(bytes);
    try {
      return strictTextDecoder.decode(bytes);
    } catch {
      throw new CborDecodeError("invalid UTF-8 string");
    }
  }

  #stringBytes(type: number, info: number): Uint8Array {
    const length = this.#length(info, 1);
    if (length !== indefinite) return this.#take(length);
    const chunks: Uint8Array[] = [];
    for (;;) {
      const initial = this.#byte();
      if (initial === breakByte) return Buffer.concat(chunks);
      if (initial >> 5 !== type || (initial & 31) === 31) throw new CborDecodeError("wrong chunk in indefinite string");
      this.#count();
      chunks.push(this.#take(this.#length(initial & 31, 1)));
    }
  }

  #list(info: number): JsonValue[] {
    const count = this.#length(info, 1);
    const list: JsonValue[] = [];
    while (count === indefinite ? !this.#takeBreak() : list.length < count) list.push(this.#value());
    return list;
  }

  #map(info: number): JsonObject {
    const count = this.#length(info, 2);
    const object = emptyJsonObject();
    for (let pairs = 0; count === indefinite ? !this.#takeBreak() : pairs < count; pairs++) {
      const key = this.#key(object, pairs);
      object[key] = this.#value();
    }
    return object;
  }

  /** Reads the key of the next pair of a map. */
  #key(object: JsonObject, pairs: number): string {
    const initial = this.#byte();
    const type = initial >> 5;
    if (type !== major.bytes && type !== major.text) throw new CborDecodeError("map key is not a string");
    const key = this.#text(type, initial & 31);
    if (key in object)
      throw new CborDecodeError(`found duplicate map key ${JSON.stringify(key)} at map element ${pairs}`);
    return key;
  }

  #tagged(info: number): JsonValue {
    const tag = this.#argument(info);
    if (tag === tags.bignum || tag === tags.negativeBignum) throw new CborDecodeError("bignum is not supported");
    if (tag === tags.base64Url) return this.#binary("base64url");
    if (tag === tags.base64) return this.#binary("base64");
    if (tag === tags.base16) return this.#binary("hex");
    const value = this.#value();
    if (tag === tags.text && typeof value !== "string") throw new CborDecodeError("tag 0 is not on text");
    return tag === tags.epoch ? epochText(value) : value;
  }

  #binary(encoding: "base64" | "base64url" | "hex"): string {
    const initial = this.#byte();
    if (initial >> 5 !== major.bytes) throw new CborDecodeError("tag for binary data is not on a byte string");
    return Buffer.from(this.#stringBytes(major.bytes, initial & 31)).toString(encoding);
  }

  #simple(info: number): JsonValue {
    if (info === 20) return false;
    if (info === 21) return true;
    if (info === 22) return null;
    if (info === 25) return finite(halfValue(this.#take(2).readUInt16BE()));
    if (info === 26) return finite(this.#take(4).readFloatBE());
    if (info === 27) return finite(this.#take(8).readDoubleBE());
    throw new CborDecodeError(info === 31 ? "unexpected break" : `simple value ${info} is not recognized`);
  }

  /**
   * Reads a length and checks it, before anything is allocated, against the bytes left: each item takes at least
   * `bytesEach`.
   */
  #length(info: number, bytesEach: number): number {
    if (info === 31) return indefinite;
    const length = this.#argument(info);
    if (typeof length === "bigint" || length * bytesEach > this.#bytes.length - this.#at) {
      throw new CborDecodeError("unexpected EOF");
    }
    return length;
  }

  #argument(info: number): number | bigint {
    if (info < 24) return info;
    if (info === 24) return this.#byte();
    if (info === 25) return this.#take(2).readUInt16BE();
    if (info === 26) return this.#take(4).readUInt32BE();
    if (info !== 27) throw new CborDecodeError(`invalid additional information ${info}`);
    const value = this.#take(8).readBigUInt64BE();
    return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
  }

  #takeBreak(): boolean {
    if (this.#bytes[this.#at] !== breakByte) return false;
    this.#at += 1;
    return true;
  }

  #byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new CborDecodeError("unexpected EOF");
    this.#at += 1;
    return byte;
  }

  #take(count: number): Buffer {
    if (count > this.#bytes.length - this.#at) throw new CborDecodeError("unexpected EOF");
    this.#at += count;
    return this.#bytes.subarray(this.#at - count, this.#at);
  }
}

function halfValue(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1_023;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1_024 + fraction) * 2 ** (exponent - 25);
}

function finite(value: number): number {
  if (!Number.isFinite(value)) throw new CborDecodeError("floating-point NaN or infinity");
  return value;
}

const epochSecondsMin = -62_167_219_200;
const epochSecondsMax = 253_402_300_799;

/** Converts tag 1, seconds since the epoch, to RFC 3339. */
function epochText(value: JsonValue): string {
  const seconds = typeof value === "number" ? value : Number.NaN;
  if (!(seconds >= epochSecondsMin && seconds <= epochSecondsMax)) throw new CborDecodeError("time out of range");
  return new Date(seconds * 1_000).toISOString().replace(".000Z", "Z");
}
