/**
 * Messages between the process that keeps the log and its mirrors:
 *
 *     length of the rest · kind · payload
 */
export const frameKinds = {
  // To the mirror.
  /** A new image begins. Everything before it is void, also requests without an answer. Payload: `ImageHeader`, JSON. */
  imageBegin: 1,
  /** Entries of the image in key order. Payload: see `entry-list.ts`. */
  imageEntries: 2,
  imageEnd: 3,
  /** An applied entry of the log. Payload: index · 1 if data follows, else 0 · data. */
  logEntry: 4,
  /** Payload: request id · answer. */
  answer: 5,
  /** Payload: request id · `Refusal`, JSON. */
  refusal: 6,
  /** Another member leads. No payload. */
  leader: 7,
  /** The store takes no more writes. Payload: the reason. */
  failed: 8,
  // From the mirror. Each payload begins with a request id.
  /** Appends to the log. Payload: the data of the entry. Only a refusal is answered: the entry itself is the answer. */
  propose: 9,
  /** Asks for an index that includes everything acknowledged so far. The answer is the index. */
  readIndex: 10,
  /** Reads history. Payload: `HistoryRequest`, JSON. The answer is a `HistoryPage`. */
  history: 11,
} as const;

export type FrameKind = (typeof frameKinds)[keyof typeof frameKinds];

/** Far above the largest frame, an entry of the log. */
const frameBytesMax = 64 * 1024 * 1024;
const lengthBytes = 4;
const kindBytes = 1;
export const frameHeaderBytes = lengthBytes + kindBytes;

/** The other side does not speak this protocol. */
export class FrameError extends Error {
  override readonly name = "FrameError";
}

/** Returns a frame whose payload consists of these parts. */
export function frameOf(kind: FrameKind, ...parts: readonly Uint8Array[]): Buffer {
  let bytes = kindBytes;
  for (const part of parts) bytes += part.byteLength;
  const frame = Buffer.allocUnsafe(lengthBytes + bytes);
  frame.writeUInt32BE(bytes);
  frame[lengthBytes] = kind;
  let at = frameHeaderBytes;
  for (const part of parts) {
    frame.set(part, at);
    at += part.byteLength;
  }
  return frame;
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export function uint64(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeUInt32BE(Math.floor(value / 2 ** 32));
  bytes.writeUInt32BE(value % 2 ** 32, 4);
  return bytes;
}

export function readUint64(bytes: Buffer, at: number): number {
  return bytes.readUInt32BE(at) * 2 ** 32 + bytes.readUInt32BE(at + 4);
}

/** Cuts a stream of bytes into frames. */
export class FrameReader {
  readonly #receive: (kind: FrameKind, payload: Buffer) => void;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #neededBytes = frameHeaderBytes;

  /** @param receive gets each frame; the payload is valid during the call only */
  constructor(receive: (kind: FrameKind, payload: Buffer) => void) {
    this.#receive = receive;
  }

  /** Takes the next bytes of the stream. @throws FrameError */
  push(chunk: Uint8Array): void {
    let bytes: Buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    if (this.#heldBytes > 0) {
      this.#held.push(bytes);
      this.#heldBytes += bytes.length;
      // Joining once per frame, not once per chunk, keeps a large frame linear.
      if (this.#heldBytes < this.#neededBytes) return void this.#keepCopy(bytes);
      bytes = Buffer.concat(this.#held, this.#heldBytes);
      this.#held = [];
      this.#heldBytes = 0;
    }
    let at = 0;
    this.#neededBytes = frameHeaderBytes;
    while (bytes.length - at >= frameHeaderBytes) {
      const length = bytes.readUInt32BE(at);
      if (length < kindBytes || length > frameBytesMax) throw new FrameError(`a frame of ${length} bytes`);
      const end = at + lengthBytes + length;
      if (end > bytes.length) {
        this.#neededBytes = end - at;
        break;
      }
      this.#receive(bytes[at + lengthBytes] as FrameKind, bytes.subarray(at + frameHeaderBytes, end));
      at = end;
    }
    if (at === bytes.length) return;
    this.#held = [Buffer.from(bytes.subarray(at))];
    this.#heldBytes = bytes.length - at;
  }

  /** Replaces the last held chunk by a copy, because the socket may reuse its memory. */
  #keepCopy(bytes: Buffer): void {
    this.#held[this.#held.length - 1] = Buffer.from(bytes);
  }
}
