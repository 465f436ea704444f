import { varintBytes, writeVarint } from "./varint.ts";

/** Copies of fewer bytes are made in a loop, because a call takes longer. */
const nearBytes = 16;
/** Room for a tag and the fixed parts of a value, which are written without a check of their own. */
const fixedBytes = 64;
const initialBytes = 64 * 1024;

const copy = Buffer.prototype.copy;

/** Writes the wire format into one buffer, which is used again for the next message. */
export class ProtobufOutput {
  #bytes = new Uint8Array(initialBytes);
  /** Bytes that are being put in order. */
  #moved = new Uint8Array();
  #end = 0;

  get end(): number {
    return this.#end;
  }

  /** Forgets what was written. */
  clear(): void {
    this.#end = 0;
    if (this.#bytes.length === initialBytes) return;
    this.#bytes = new Uint8Array(initialBytes);
    this.#moved = new Uint8Array();
  }

  /** Returns a copy of what was written. */
  copied(): Uint8Array {
    return this.#bytes.slice(0, this.#end);
  }

  /** Writes a tag, and makes room for the fixed parts of a value. */
  tag(tag: number): void {
    this.makeRoom(fixedBytes);
    this.varint(tag);
  }

  /** Writes one byte. Room for it has been made. */
  byte(byte: number): void {
    this.#bytes[this.#end++] = byte;
  }

  /** Writes a number of at most 53 bits, which is not negative. Room for it has been made. */
  varint(value: number): void {
    this.#end = writeVarint(this.#bytes, this.#end, value);
  }

  /** Begins a message or text of unknown length, and returns its position for `close`. */
  open(): number {
    return this.#end++;
  }

  /** Writes the length in front of a message or text. One that needs several bytes makes room for itself. */
  close(opened: number): void {
    const length = this.#end - opened - 1;
    if (length > 0x7f) {
      const start = opened + varintBytes(length);
      this.makeRoom(fixedBytes);
      this.#bytes.copyWithin(start, opened + 1, this.#end);
    }
    this.#end = opened;
    this.varint(length);
    this.#end += length;
  }

  /** Writes a part of other bytes. */
  copy(source: Uint8Array, from = 0, to = source.length): void {
    this.makeRoom(to - from);
    if (to - from > nearBytes) {
      copy.call(source, this.#bytes, this.#end, from, to);
    } else {
      const offset = this.#end - from;
      for (let at = from; at < to; at++) this.#bytes[offset + at] = source[at] as number;
    }
    this.#end += to - from;
  }

  /** Writes a part of other bytes, with its length. */
  copyWithLength(source: Uint8Array, from: number, to: number): void {
    this.makeRoom(to - from + fixedBytes);
    this.varint(to - from);
    this.copy(source, from, to);
  }

  /**
   * Puts the pieces of the output in another order.
   * @param starts where each piece begins; each ends where the next begins, the last at the end of the output
   * @param order the index of the piece that comes first, and so on
   */
  reorder(starts: readonly number[], order: readonly number[]): void {
    const first = starts[0] as number;
    const length = this.#end - first;
    if (this.#moved.length < length) this.#moved = new Uint8Array(2 * length);
    copy.call(this.#bytes, this.#moved, 0, first, this.#end);
    this.#end = first;
    for (const piece of order) {
      const start = (starts[piece] as number) - first;
      const end = (starts[piece + 1] ?? first + length) - first;
      this.copy(this.#moved, start, end);
    }
  }

  makeRoom(bytes: number): void {
    const needed = this.#end + bytes;
    if (needed <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(needed, 2 * this.#bytes.length));
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}
