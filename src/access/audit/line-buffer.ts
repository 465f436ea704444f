/** Length above which a call into the runtime is faster than a loop. */
const loopCharactersMax = 80;
const bytesPerCharacterMax = 3;
const asciiMax = 0x7f;

/**
 * Lines assembled piece by piece, as bytes in reused memory. Strings would have to be joined and encoded, and would leave
 * garbage.
 */
export class LineBuffer {
  readonly #bytesInitial: number;
  #bytes: Buffer;
  #length = 0;

  constructor(bytesInitial: number) {
    this.#bytesInitial = bytesInitial;
    this.#bytes = Buffer.allocUnsafeSlow(bytesInitial);
  }

  get length(): number {
    return this.#length;
  }

  /** Written bytes, valid until the next write. */
  get content(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  text(text: string): void {
    const { length } = text;
    this.#reserve(length <= loopCharactersMax ? length * bytesPerCharacterMax : Buffer.byteLength(text));
    const bytes = this.#bytes;
    const start = this.#length;
    if (length <= loopCharactersMax) {
      let at = 0;
      for (; at < length; at++) {
        const code = text.charCodeAt(at);
        if (code > asciiMax) break;
        bytes[start + at] = code;
      }
      if (at === length) {
        this.#length = start + length;
        return;
      }
    }
    this.#length = start + bytes.write(text, start);
  }

  /** Writes a quoted text that needs no escapes. */
  quoted(text: string): void {
    this.text('"');
    this.text(text);
    this.text('"');
  }

  /** Writes a piece that is already encoded. */
  piece(piece: Uint8Array): void {
    this.#reserve(piece.length);
    this.#bytes.set(piece, this.#length);
    this.#length += piece.length;
  }

  /** Shortens the content to `length`. */
  cutTo(length: number): void {
    this.#length = length;
  }

  /** Removes the first `length` bytes, or all. Frees the memory of a large text when the buffer becomes empty. */
  remove(length = this.#length): void {
    if (length < this.#length) this.#bytes.copyWithin(0, length, this.#length);
    this.#length -= length;
    if (this.#length === 0 && this.#bytes.length > this.#bytesInitial) {
      this.#bytes = Buffer.allocUnsafeSlow(this.#bytesInitial);
    }
  }

  toString(from = 0): string {
    return this.#bytes.toString("utf8", from, this.#length);
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}
