/** A frame's meaning (RFC 6455, 5.2). */
const opcodes = { continuation: 0x0, text: 0x1, binary: 0x2, close: 0x8, ping: 0x9, pong: 0xa } as const;
const finalBit = 0x80;
const reservedBits = 0x70;
const maskBit = 0x80;
const maskBytes = 4;
const controlBytesMax = 125;
/** Size of a client's message. Above this, the connection is closed. */
export const messageBytesMax = 1024 * 1024;

export type WebSocketMessage =
  | { readonly kind: "data"; readonly isText: boolean; readonly payload: Buffer }
  | { readonly kind: "ping"; readonly payload: Buffer }
  | { readonly kind: "close" };

/** A frame that breaks the protocol, with the code of the answering close frame. */
export class WebSocketError extends Error {
  override readonly name = "WebSocketError";
  readonly closeCode: number;
  constructor(closeCode: number, message: string) {
    super(message);
    this.closeCode = closeCode;
  }
}

const protocolError = 1002;
const tooBig = 1009;

/** Reads the messages of a client, which masks its frames. Keeps at most one message. */
export class WebSocketMessageReader {
  #pending: Buffer = Buffer.alloc(0);
  #parts: Buffer[] = [];
  #partBytes = 0;
  #isText: boolean | undefined;

  /** Returns the messages that are complete. @throws WebSocketError */
  read(chunk: Uint8Array): WebSocketMessage[] {
    const messages: WebSocketMessage[] = [];
    let bytes = this.#pending.byteLength === 0 ? Buffer.from(chunk) : Buffer.concat([this.#pending, chunk]);
    for (;;) {
      const used = this.#readFrame(bytes, messages);
      if (used === 0) break;
      bytes = bytes.subarray(used);
    }
    this.#pending = bytes;
    return messages;
  }

  /** Returns the number of bytes used, 0 if more are needed. */
  #readFrame(bytes: Buffer, messages: WebSocketMessage[]): number {
    if (bytes.byteLength < 2) return 0;
    const [first = 0, second = 0] = bytes;
    if ((first & reservedBits) !== 0) throw new WebSocketError(protocolError, "a reserved bit is set");
    if ((second & maskBit) === 0) throw new WebSocketError(protocolError, "a frame is not masked");
    const short = second & 0x7f;
    const extended = short < 126 ? 0 : short === 126 ? 2 : 8;
    const headBytes = 2 + extended + maskBytes;
    if (bytes.byteLength < headBytes) return 0;
    const length = extended === 0 ? short : extended === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
    const opcode = first & 0x0f;
    const isControl = opcode >= opcodes.close;
    if (isControl && (length > controlBytesMax || (first & finalBit) === 0)) {
      throw new WebSocketError(protocolError, "a malformed control frame");
    }
    if (this.#partBytes + length > messageBytesMax) throw new WebSocketError(tooBig, "a message is too long");
    if (bytes.byteLength < headBytes + length) return 0;
    const payload = unmasked(
      bytes.subarray(headBytes - maskBytes, headBytes),
      bytes.subarray(headBytes, headBytes + length),
    );
    if (isControl) this.#control(opcode, payload, messages);
    else this.#data(opcode, (first & finalBit) !== 0, payload, messages);
    return headBytes + length;
  }

  #control(opcode: number, payload: Buffer, messages: WebSocketMessage[]): void {
    if (opcode === opcodes.close) messages.push({ kind: "close" });
    else if (opcode === opcodes.ping) messages.push({ kind: "ping", payload });
    else if (opcode !== opcodes.pong) throw new WebSocketError(protocolError, "an unknown control frame");
  }

  #data(opcode: number, isFinal: boolean, payload: Buffer, messages: WebSocketMessage[]): void {
    if (opcode > opcodes.binary) throw new WebSocketError(protocolError, "an unknown frame");
    if ((opcode === opcodes.continuation) !== (this.#isText !== undefined)) {
      throw new WebSocketError(protocolError, "a part of another message");
    }
    this.#isText ??= opcode === opcodes.text;
    this.#parts.push(payload);
    // An empty part counts too, so that there cannot be too many.
    this.#partBytes += payload.byteLength + 1;
    if (!isFinal) return;
    messages.push({ kind: "data", isText: this.#isText, payload: Buffer.concat(this.#parts) });
    this.#parts = [];
    this.#partBytes = 0;
    this.#isText = undefined;
  }
}

function unmasked(mask: Buffer, payload: Buffer): Buffer {
  const plain = Buffer.allocUnsafe(payload.byteLength);
  for (let at = 0; at < payload.byteLength; at++) {
    plain[at] = (payload[at] as number) ^ (mask[at % maskBytes] as number);
  }
  return plain;
}
