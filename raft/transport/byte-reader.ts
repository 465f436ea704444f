/** A violation of the protocol. The receiving connection is closed. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
}

const nothing = Buffer.alloc(0);

/** Reads the output of `ByteWriter` from an untrusted peer. Bytes are views; bytes that span two pieces are copied. */
export class ByteReader {
  readonly #pieces: readonly Buffer[];
  /** Current piece, position in it, and number of bytes behind it. */
  #bytes: Buffer;
  #position = 0;
  #behind: number;
  #nextPiece = 1;

  constructor(bytes: Buffer | readonly Buffer[]) {
    this.#pieces = Buffer.isBuffer(bytes) ? [bytes] : bytes;
    this.#bytes = this.#pieces[0] ?? nothing;
    this.#behind = this.#pieces.reduce((sum, { length }) => sum + length, -this.#bytes.length);
  }

  get rest(): number {
    return this.#bytes.length - this.#position + this.#behind;
  }

  byte(): number {
    if (this.#position === this.#bytes.length) this.#turn();
    const value = this.#bytes[this.#position];
    if (value === undefined) throw new ProtocolError("a message is truncated");
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
    const end = this.#position + length;
    if (end <= this.#bytes.length) {
      const view = this.#bytes.subarray(this.#position, end);
      this.#position = end;
      return view;
    }
    if (length > this.rest) throw new ProtocolError("a message is truncated");
    return this.#gather(length);
  }

  /** Checks that everything was read. */
  end(): void {
    if (this.rest > 0) throw new ProtocolError("a message has bytes after its end");
  }

  #gather(length: number): Buffer {
    const gathered = Buffer.allocUnsafe(length);
    for (let filled = 0; filled < length; ) {
      if (this.#position === this.#bytes.length) this.#turn();
      const copied = this.#bytes.copy(gathered, filled, this.#position);
      this.#position += copied;
      filled += copied;
    }
    return gathered;
  }

  /** Moves to the next piece, if any. Pieces are never empty. */
  #turn(): void {
    const next = this.#pieces[this.#nextPiece];
    if (next === undefined) return;
    this.#nextPiece++;
    this.#behind -= next.length;
    this.#bytes = next;
    this.#position = 0;
  }
}
