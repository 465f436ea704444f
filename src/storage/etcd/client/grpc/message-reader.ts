import { ProtocolError } from "./frame.ts";

/** Before a message: whether it is compressed, and its length. */
const prefixBytes = 5;

/** A message is larger than its receiver allows. */
export class MessageTooLargeError extends Error {}

/** Returns the bytes that precede a message on the wire. */
export function messagePrefix(bytes: number): Buffer {
  const prefix = Buffer.alloc(prefixBytes);
  prefix.writeUInt32BE(bytes, 1);
  return prefix;
}

/** Splits the bytes of a stream into messages. */
export class MessageReader {
  readonly #bytesMax: number;
  #parts: Buffer[] = [];
  #partsBytes = 0;
  /** Bytes that the first message needs, as far as known. */
  #needed = prefixBytes;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Whether a message has begun and not ended. */
  get isInMessage(): boolean {
    return this.#partsBytes > 0;
  }

  /**
   * Calls `take` for every message that is complete, with a view of its bytes.
   * @throws ProtocolError, MessageTooLargeError
   */
  push(part: Buffer, take: (message: Buffer) => void): void {
    if (part.length === 0) return;
    this.#parts.push(part);
    this.#partsBytes += part.length;
    if (this.#partsBytes < this.#needed) return;
    const bytes = this.#parts.length === 1 ? part : Buffer.concat(this.#parts, this.#partsBytes);
    let at = 0;
    for (;;) {
      this.#needed = this.#neededAt(bytes, at);
      if (bytes.length - at < this.#needed) break;
      take(bytes.subarray(at + prefixBytes, at + this.#needed));
      at += this.#needed;
    }
    this.#parts = at === bytes.length ? [] : [bytes.subarray(at)];
    this.#partsBytes = bytes.length - at;
  }

  #neededAt(bytes: Buffer, at: number): number {
    if (bytes.length - at < prefixBytes) return prefixBytes;
    if (bytes[at] !== 0) throw new ProtocolError("a message that is compressed");
    const length = bytes.readUInt32BE(at + 1);
    if (length > this.#bytesMax) {
      throw new MessageTooLargeError(`a message of ${length} bytes is larger than ${this.#bytesMax}`);
    }
    return prefixBytes + length;
  }
}
