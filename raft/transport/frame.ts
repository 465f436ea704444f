import { ProtocolError } from "./byte-reader.ts";

/** Size of a frame's length, which precedes its bytes. */
const lengthBytes = 4;
/** Pieces above which a frame is copied into its own memory. Many small pieces cost more than the copy. */
const piecesMax = 256;

/** The contents of a frame as views of the pieces received, so that entries are not copied. */
export class Frame {
  readonly pieces: readonly Buffer[];
  readonly length: number;

  constructor(pieces: readonly Buffer[], length: number) {
    this.pieces = pieces;
    this.length = length;
  }

  /** Returns the contents in one piece. */
  whole(): Buffer {
    const [only] = this.pieces;
    return only !== undefined && this.pieces.length === 1 ? only : Buffer.concat(this.pieces, this.length);
  }
}

/** Splits a socket's data into frames. A length beyond the limit is rejected before memory is allocated for it. */
export class FrameReader {
  readonly #frameBytesMax: number;
  readonly #length = Buffer.alloc(lengthBytes);
  #lengthFilled = 0;
  #pieces: Buffer[] = [];
  #filled = 0;
  /** Buffer for a frame in too many pieces. */
  #body: Buffer | undefined;

  constructor(frameBytesMax: number) {
    this.#frameBytesMax = frameBytesMax;
  }

  /**
   * Calls `take` with each complete frame.
   * @throws ProtocolError when a frame is too large
   */
  push(chunk: Buffer, take: (frame: Frame) => void): void {
    for (let offset = 0; offset < chunk.length; ) {
      if (this.#lengthFilled < lengthBytes) offset += this.#fillLength(chunk, offset);
      if (this.#lengthFilled < lengthBytes) return;
      const wanted = this.#length.readUInt32LE(0);
      const end = Math.min(chunk.length, offset + wanted - this.#filled);
      if (end > offset) this.#add(chunk.subarray(offset, end), wanted);
      offset = end;
      if (this.#filled === wanted) take(this.#takeFrame(wanted));
    }
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

  #add(piece: Buffer, wanted: number): void {
    if (this.#body === undefined && this.#pieces.length < piecesMax) this.#pieces.push(piece);
    else {
      this.#body ??= joined(this.#pieces, wanted);
      piece.copy(this.#body, this.#filled);
      this.#pieces = [this.#body];
    }
    this.#filled += piece.length;
  }

  #takeFrame(length: number): Frame {
    const frame = new Frame(this.#pieces, length);
    this.#lengthFilled = 0;
    this.#pieces = [];
    this.#filled = 0;
    this.#body = undefined;
    return frame;
  }
}

/** Returns a buffer of `length` bytes that begins with the pieces. */
function joined(pieces: readonly Buffer[], length: number): Buffer {
  const body = Buffer.allocUnsafe(length);
  let offset = 0;
  for (const piece of pieces) offset += piece.copy(body, offset);
  return body;
}
