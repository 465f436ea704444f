import { ProtocolError } from "./byte-reader.ts";

/** A frame is its length in four bytes, then so many bytes. */
const lengthBytes = 4;

/** Cuts what comes from a socket into frames. A length beyond the limit is refused before any memory is given to it. */
export class FrameReader {
  readonly #frameBytesMax: number;
  readonly #length = Buffer.alloc(lengthBytes);
  #lengthFilled = 0;
  /** Of a frame that came in several chunks. */
  #body: Buffer | undefined;
  #bodyFilled = 0;

  constructor(frameBytesMax: number) {
    this.#frameBytesMax = frameBytesMax;
  }

  /**
   * Calls `take` with each frame that is whole: a view of the chunk where it lies in one, else memory of its own.
   * @throws ProtocolError when a frame is too large
   */
  push(chunk: Buffer, take: (frame: Buffer) => void): void {
    for (let offset = 0; offset < chunk.length || this.#isEmptyFrame(); ) {
      if (this.#lengthFilled < lengthBytes) {
        offset += this.#fillLength(chunk, offset);
        continue;
      }
      const wanted = this.#length.readUInt32LE(0);
      if (this.#body === undefined && chunk.length - offset >= wanted) {
        this.#lengthFilled = 0;
        offset += wanted;
        take(chunk.subarray(offset - wanted, offset));
        continue;
      }
      this.#body ??= Buffer.allocUnsafe(wanted);
      const copied = chunk.copy(this.#body, this.#bodyFilled, offset);
      offset += copied;
      this.#bodyFilled += copied;
      if (this.#bodyFilled === wanted) this.#takeBody(this.#body, take);
    }
  }

  #isEmptyFrame(): boolean {
    return this.#lengthFilled === lengthBytes && this.#length.readUInt32LE(0) === 0;
  }

  #fillLength(chunk: Buffer, offset: number): number {
    const copied = chunk.copy(this.#length, this.#lengthFilled, offset);
    this.#lengthFilled += copied;
    const wanted = this.#length.readUInt32LE(0);
    if (this.#lengthFilled === lengthBytes && wanted > this.#frameBytesMax) {
      throw new ProtocolError(`a frame of ${wanted} bytes is too large`);
    }
    return copied;
  }

  #takeBody(body: Buffer, take: (frame: Buffer) => void): void {
    this.#lengthFilled = 0;
    this.#body = undefined;
    this.#bodyFilled = 0;
    take(body);
  }
}
