/** Maximum size of a buffer that is kept for reuse. A larger one served one large message. */
const capacityKept = 1 << 20;

/** A byte buffer that grows as needed. */
export class ByteWriter {
  #bytes: Buffer;
  #length = 0;

  constructor(capacity = 4096) {
    this.#bytes = Buffer.allocUnsafe(capacity);
  }

  get length(): number {
    return this.#length;
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  u32(value: number): void {
    this.#reserve(4);
    this.#length = this.#bytes.writeUInt32LE(value, this.#length);
  }

  /** Writes an integer from 0 to 2^53 − 1, seven bits per byte, low bits first. */
  count(value: number): void {
    this.#reserve(8);
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.#length++] = (rest % 0x80) + 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#length++] = rest;
  }

  bytes(value: Uint8Array): void {
    this.count(value.length);
    this.raw(value);
  }

  text(value: string): void {
    this.bytes(Buffer.from(value));
  }

  raw(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#bytes.set(value, this.#length);
    this.#length += value.length;
  }

  /** Writes the number of bytes that follow into four bytes reserved with `u32(0)` at `position`. */
  patchLength(position: number): void {
    this.#bytes.writeUInt32LE(this.#length - position - 4, position);
  }

  /** Returns the bytes written so far, valid until the next `reset`. */
  view(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Starts again in the same memory if it has room for `capacity` bytes. */
  reset(capacity: number): void {
    this.#length = 0;
    if (this.#bytes.length > capacityKept) this.#bytes = Buffer.allocUnsafe(4096);
    this.#reserve(capacity);
  }

  /** Returns the bytes written so far. The caller owns them. */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.#length);
    this.#bytes = Buffer.allocUnsafe(4096);
    this.#length = 0;
    return taken;
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.#length + more, 2 * this.#bytes.length));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}
