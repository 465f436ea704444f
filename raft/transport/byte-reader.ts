/** What came is not what the protocol allows; the connection it came on is closed. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
}

/** Reads what `ByteWriter` wrote, from a peer that may send anything. Bytes are views, not copies. */
export class ByteReader {
  readonly #bytes: Buffer;
  #position = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get rest(): number {
    return this.#bytes.length - this.#position;
  }

  byte(): number {
    const value = this.#bytes[this.#position];
    if (value === undefined) throw new ProtocolError("a message is cut short");
    this.#position++;
    return value;
  }

  count(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 0x80) {
      const byte = this.byte();
      value += (byte & 0x7f) * factor;
      if (!Number.isSafeInteger(value)) throw new ProtocolError("a number is too large");
      if (byte < 0x80) return value;
      if (factor > 2 ** 49) throw new ProtocolError("a number is too long");
    }
  }

  bytes(): Buffer {
    return this.raw(this.count());
  }

  text(bytesMax: number): string {
    const length = this.count();
    if (length > bytesMax) throw new ProtocolError("a text is too long");
    return this.raw(length).toString();
  }

  raw(length: number): Buffer {
    if (length > this.rest) throw new ProtocolError("a message is cut short");
    this.#position += length;
    return this.#bytes.subarray(this.#position - length, this.#position);
  }

  /** The whole of it was read. */
  end(): void {
    if (this.rest > 0) throw new ProtocolError("a message is longer than it says");
  }
}
