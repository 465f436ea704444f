/** Types of HTTP/2 frames (RFC 9113, section 6). Others are ignored. */
export const frameType = {
  data: 0,
  headers: 1,
  reset: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const frameFlag = { endStream: 0x01, ack: 0x01, endHeaders: 0x04, padded: 0x08, priority: 0x20 } as const;

/** Maximum payload of a frame unless the receiver allows more. We never do. */
export const frameBytesMax = 16_384;
const headBytes = 9;

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  /** A view into what was received. */
  readonly payload: Buffer;
}

/** The other side breaks the protocol. The connection cannot continue. */
export class ProtocolError extends Error {}

/** Returns the head of a frame, which its payload follows. */
export function frameHead(type: number, flags: number, streamId: number, payloadBytes: number): Buffer {
  const head = Buffer.allocUnsafe(headBytes);
  head.writeUInt32BE(payloadBytes * 0x100 + type, 0);
  head[4] = flags;
  head.writeUInt32BE(streamId, 5);
  return head;
}

/** Returns a small frame whose payload consists of 32-bit numbers. */
export function numbersFrame(type: number, streamId: number, ...numbers: number[]): Buffer {
  const frame = Buffer.concat([frameHead(type, 0, streamId, 4 * numbers.length), Buffer.alloc(4 * numbers.length)]);
  for (const [at, number] of numbers.entries()) frame.writeUInt32BE(number, headBytes + 4 * at);
  return frame;
}

/** Splits the bytes of a connection into frames. */
export class FrameReader {
  /** Start of a frame whose rest has not arrived. */
  #held: Buffer | undefined;

  /** Calls `take` for every frame that is complete. @throws ProtocolError */
  push(chunk: Buffer, take: (frame: Frame) => void): void {
    const bytes = this.#held === undefined ? chunk : Buffer.concat([this.#held, chunk]);
    let at = 0;
    while (bytes.length - at >= headBytes) {
      const lengthAndType = bytes.readUInt32BE(at);
      const payloadBytes = lengthAndType >>> 8;
      if (payloadBytes > frameBytesMax) throw new ProtocolError(`a frame of ${payloadBytes} bytes`);
      const end = at + headBytes + payloadBytes;
      if (end > bytes.length) break;
      const streamId = bytes.readUInt32BE(at + 5) & 0x7fff_ffff;
      const payload = bytes.subarray(at + headBytes, end);
      take({ type: lengthAndType & 0xff, flags: bytes[at + 4] as number, streamId, payload });
      at = end;
    }
    this.#held = at < bytes.length ? bytes.subarray(at) : undefined;
  }
}

/** Returns the payload of a DATA or HEADERS frame without its padding and priority. @throws ProtocolError */
export function contentOf({ type, flags, payload }: Frame): Buffer {
  if ((flags & (frameFlag.padded | frameFlag.priority)) === 0) return payload;
  let start = 0;
  let end = payload.length;
  if ((flags & frameFlag.padded) !== 0) {
    start = 1;
    end -= payload[0] ?? 0;
  }
  if (type === frameType.headers && (flags & frameFlag.priority) !== 0) start += 5;
  if (start > end) throw new ProtocolError("a frame with more padding than bytes");
  return payload.subarray(start, end);
}
