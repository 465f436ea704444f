import { ProtocolError } from "./byte-reader.ts";

/** A frame is its length in four bytes, then so many bytes. */
const lengthBytes = 4;

/** Cuts what comes from a socket into frames. A length beyond the limit is refused before any memory is given to it. */
export class FrameReader {
  readonly #frameBytesMax: number;
  #chunks: Buffer[] = [];
  #buffered = 0;
  #wanted = lengthBytes;
  #inBody = false;

  constructor(frameBytesMax: number) {
    this.#frameBytesMax = frameBytesMax;
  }

  /** @throws ProtocolError when a frame is too large */
  *push(chunk: Buffer): Generator<Buffer> {
    this.#chunks.push(chunk);
    this.#buffered += chunk.length;
    while (this.#buffered >= this.#wanted) {
      const part = this.#take(this.#wanted);
      if (this.#inBody) {
        this.#inBody = false;
        this.#wanted = lengthBytes;
        yield part;
      } else {
        this.#wanted = part.readUInt32LE(0);
        if (this.#wanted > this.#frameBytesMax)
          throw new ProtocolError(`a frame of ${this.#wanted} bytes is too large`);
        this.#inBody = true;
      }
    }
  }

  /** A view where the bytes lie in one chunk, a copy where they do not. */
  #take(length: number): Buffer {
    this.#buffered -= length;
    const [first] = this.#chunks;
    if (first !== undefined && first.length >= length) {
      if (first.length === length) this.#chunks.shift();
      else this.#chunks[0] = first.subarray(length);
      return first.subarray(0, length);
    }
    const all = Buffer.concat(this.#chunks);
    this.#chunks = all.length > length ? [all.subarray(length)] : [];
    return all.subarray(0, length);
  }
}
