import { status } from "../status.ts";

/** Limit of the nesting of messages. The deepest built-in type needs about 20, JSON schemas more. */
export const protobufDepthMax = 256;

/** Thrown for bytes that are not a message of the expected type. */
export class ProtobufDecodeError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ProtobufDecodeError";
  }
}

export type WireType = 0 | 1 | 2 | 5;
export const wireVarint = 0;
export const wireFixed64 = 1;
export const wireBytes = 2;
const wireFixed32 = 5;
const varintBytesMax = 10;
const safeHighBits = 0x20_0000;
/** Length up to which a text is cut from a text of the whole input. */
const shortTextBytes = 96;
/** Size of the input above which no text is cut from it: each would keep all of it in memory. */
const slicedBytesMax = 64 * 1024;

export interface Tag {
  readonly number: number;
  readonly wireType: WireType;
}

/**
 * Reads the wire format within bounds. Every method throws ProtobufDecodeError rather than read past the end; `count`
 * throws StatusError 413 beyond `valuesMax`.
 */
export class ProtobufReader {
  readonly #bytes: Buffer;
  readonly #view: DataView;
  #at = 0;
  #end: number;
  #depth = 0;
  /** The two halves of the varint read last. */
  #low = 0;
  #high = 0;
  #values = 0;
  /** All bytes as characters. Its parts take less time than texts of their own. */
  #allText: string | undefined;
  readonly #valuesMax: number;

  constructor(bytes: Uint8Array, valuesMax = Number.POSITIVE_INFINITY) {
    this.#valuesMax = valuesMax;
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#end = bytes.byteLength;
  }

  /** Reports whether the current message has no more fields. */
  get atEnd(): boolean {
    return this.#at >= this.#end;
  }

  /** Counts a field, an item of a packed list, or the values of a text. */
  count(values = 1): void {
    this.#values += values;
    if (this.#values > this.#valuesMax) throw status.tooManyValues(this.#valuesMax);
  }

  tag(): Tag {
    this.#varint();
    const number = this.#low >>> 3;
    const wireType = this.#low & 7;
    if (number === 0 || this.#high !== 0) throw new ProtobufDecodeError("proto: illegal tag");
    if (wireType !== 0 && wireType !== 1 && wireType !== 2 && wireType !== 5) {
      throw new ProtobufDecodeError(`proto: illegal wireType ${wireType}`);
    }
    return { number, wireType };
  }

  int32(): number {
    this.#varint();
    return this.#low | 0;
  }

  uint32(): number {
    this.#varint();
    return this.#low >>> 0;
  }

  bool(): boolean {
    this.#varint();
    return this.#low !== 0 || this.#high !== 0;
  }

  int64(): number | bigint {
    this.#varint();
    const high = this.#high | 0;
    if (high >= -safeHighBits && high < safeHighBits) return exactNumber(high * 2 ** 32 + (this.#low >>> 0));
    return BigInt.asIntN(64, this.#varintBits());
  }

  uint64(): number | bigint {
    this.#varint();
    const high = this.#high >>> 0;
    if (high < safeHighBits) return high * 2 ** 32 + (this.#low >>> 0);
    return this.#varintBits();
  }

  double(): number {
    return this.#view.getFloat64(this.#advance(8), true);
  }

  /** Reads text; invalid UTF-8 becomes U+FFFD. */
  text(): string {
    const length = this.#length();
    const start = this.#advance(length);
    if (length > shortTextBytes || this.#bytes.length > slicedBytesMax || !this.#isAscii(start, start + length)) {
      return this.#bytes.toString("utf8", start, start + length);
    }
    this.#allText ??= this.#bytes.toString("latin1");
    return this.#allText.slice(start, start + length);
  }

  /** Reads bytes as a view into the input. */
  bytes(): Uint8Array {
    const length = this.#length();
    const start = this.#advance(length);
    return this.#bytes.subarray(start, start + length);
  }

  /** Enters the message or packed list that follows, whose end `atEnd` then reports. Returns the end to leave it with. */
  enter(): number {
    const length = this.#length();
    const outerEnd = this.#end;
    this.#depth += 1;
    if (this.#depth > protobufDepthMax) throw new ProtobufDecodeError("proto: exceeded max recursion depth");
    this.#end = this.#at + length;
    return outerEnd;
  }

  /** Leaves a message or packed list that has been read. */
  leave(outerEnd: number): void {
    this.#end = outerEnd;
    this.#depth -= 1;
  }

  skip(wireType: WireType): void {
    if (wireType === wireVarint) this.#varint();
    else if (wireType === wireFixed64) this.#advance(8);
    else if (wireType === wireFixed32) this.#advance(4);
    else this.#advance(this.#length());
  }

  #length(): number {
    this.#varint();
    const length = this.#low >>> 0;
    if (this.#high !== 0 || length > this.#end - this.#at) throw new ProtobufDecodeError("unexpected EOF");
    return length;
  }

  #isAscii(from: number, to: number): boolean {
    for (let at = from; at < to; at++) if ((this.#bytes[at] as number) > 0x7f) return false;
    return true;
  }

  #advance(count: number): number {
    const start = this.#at;
    if (count > this.#end - start) throw new ProtobufDecodeError("unexpected EOF");
    this.#at = start + count;
    return start;
  }

  #varint(): void {
    let low = 0;
    let high = 0;
    for (let index = 0; index < varintBytesMax; index++) {
      if (this.#at >= this.#end) throw new ProtobufDecodeError("unexpected EOF");
      const byte = this.#bytes[this.#at] as number;
      this.#at += 1;
      const bits = byte & 0x7f;
      if (index < 5) low |= bits << (7 * index);
      if (index === 4) high = bits >>> 4;
      if (index > 4) high |= bits << (7 * index - 32);
      if (byte < 0x80) {
        this.#low = low;
        this.#high = high;
        return;
      }
    }
    throw new ProtobufDecodeError("proto: integer overflow");
  }

  #varintBits(): bigint {
    return (BigInt(this.#high >>> 0) << 32n) | BigInt(this.#low >>> 0);
  }
}

/** A 64-bit integer as protobufjs takes it: in halves, because its writer would encode a BigInt as 0. */
export interface Int64Halves {
  low: number;
  high: number;
  unsigned: boolean;
}

export function int64Halves(value: number | bigint): Int64Halves {
  const bits = BigInt.asUintN(64, BigInt(value));
  return { low: Number(bits & 0xffff_ffffn) | 0, high: Number(bits >> 32n) | 0, unsigned: false };
}

function exactNumber(value: number): number | bigint {
  return Number.isSafeInteger(value) ? value : BigInt(value);
}
