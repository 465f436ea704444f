const opcodes = { text: 0x1, binary: 0x2, close: 0x8, ping: 0x9, pong: 0xa } as const;
const finalFrame = 0x80;
const maskBytes = 4;
/** RFC 6455, 5.5: maximum payload of a control frame. */
const controlBytesMax = 125;
/** Maximum length of a frame's head: opcode, length, extended length, mask. */
const headBytesMax = 14;

/** Returns one unmasked frame with a whole message, as a server sends it (RFC 6455, 5.2). */
export function webSocketFrame(type: keyof typeof opcodes, payload: Uint8Array): Uint8Array {
  const { byteLength } = payload;
  const extended = byteLength < 126 ? 0 : byteLength < 65_536 ? 2 : 8;
  const frame = Buffer.allocUnsafe(2 + extended + byteLength);
  frame[0] = finalFrame | opcodes[type];
  frame[1] = extended === 0 ? byteLength : extended === 2 ? 126 : 127;
  if (extended === 2) frame.writeUInt16BE(byteLength, 2);
  if (extended === 8) frame.writeBigUInt64BE(BigInt(byteLength), 2);
  frame.set(payload, 2 + extended);
  return frame;
}

export interface WebSocketEvents {
  pong(payload: Uint8Array): void;
  /** Called once, when the client closes or violates the protocol. */
  close(): void;
}

/**
 * Reads the frames of a client whose messages are ignored. Answers pings, skips messages and buffers at most one head.
 */
export class WebSocketReader {
  readonly #events: WebSocketEvents;
  #pending: Uint8Array = new Uint8Array();
  /** Number of remaining bytes of a message to skip. */
  #skip = 0;
  #closed = false;

  constructor(events: WebSocketEvents) {
    this.#events = events;
  }

  read(chunk: Uint8Array): void {
    if (this.#closed) return;
    let bytes = this.#pending.byteLength === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    for (;;) {
      const skipped = Math.min(this.#skip, bytes.byteLength);
      this.#skip -= skipped;
      bytes = bytes.subarray(skipped);
      const used = this.#skip > 0 ? 0 : this.#frame(bytes);
      if (this.#closed) return;
      if (used === 0) break;
      bytes = bytes.subarray(used);
    }
    this.#pending = bytes;
  }

  /** Reads a head, with the payload if it is a control frame. Returns the number of bytes used, 0 if more are needed. */
  #frame(bytes: Uint8Array): number {
    if (bytes.byteLength < 2) return 0;
    const [first = 0, second = 0] = bytes;
    const short = second & 0x7f;
    const extended = short < 126 ? 0 : short === 126 ? 2 : 8;
    const headBytes = 2 + extended + maskBytes;
    // RFC 6455, 5.1: a server closes the connection on a frame without a mask.
    if ((second & 0x80) === 0) return this.#close();
    if (bytes.byteLength < headBytes) return 0;
    const view = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, headBytesMax));
    const length = extended === 0 ? short : extended === 2 ? view.readUInt16BE(2) : Number(view.readBigUInt64BE(2));
    const opcode = first & 0x0f;
    if (opcode < opcodes.close) {
      if (!Number.isSafeInteger(length)) return this.#close();
      this.#skip = length;
      return headBytes;
    }
    if (opcode === opcodes.close || length > controlBytesMax) return this.#close();
    if (bytes.byteLength < headBytes + length) return 0;
    if (opcode === opcodes.ping) {
      const mask = bytes.subarray(headBytes - maskBytes, headBytes);
      const payload = bytes.slice(headBytes, headBytes + length);
      this.#events.pong(payload.map((byte, at) => byte ^ (mask[at % maskBytes] as number)));
    }
    return headBytes + length;
  }

  #close(): number {
    this.#closed = true;
    this.#events.close();
    return 0;
  }
}
