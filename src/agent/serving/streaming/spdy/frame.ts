/** Types of control frames (SPDY/3.1, 2.6). Others are ignored. */
export const frameTypes = {
  synStream: 1,
  synReply: 2,
  rstStream: 3,
  ping: 6,
  goAway: 7,
  headers: 8,
} as const;

export const finFlag = 0x01;
const unidirectionalFlag = 0x02;
const version = 3;
const headBytes = 8;
/** Size of a control frame. Above this, the connection ends. */
export const controlBytesMax = 64 * 1024;

export interface ControlFrame {
  readonly kind: "control";
  readonly type: number;
  readonly flags: number;
  readonly payload: Buffer;
}

/** A part of a data frame, which may arrive in several. The flags belong to the last one. */
export interface DataFrame {
  readonly kind: "data";
  readonly streamId: number;
  readonly isLast: boolean;
  readonly payload: Buffer;
}

export type Frame = ControlFrame | DataFrame;

/** Reports whether the frame opens a stream in which only the client writes. */
export function isUnidirectional({ flags }: ControlFrame): boolean {
  return (flags & unidirectionalFlag) !== 0;
}

/** Cuts the bytes of a client into frames. Keeps at most one control frame, and no data. */
export class FrameReader {
  #pending: Buffer = Buffer.alloc(0);
  #data: { readonly streamId: number; readonly flags: number; left: number } | undefined;

  /** Returns the frames that are complete, and the data so far. @throws Error for bytes that are not SPDY */
  read(chunk: Uint8Array): Frame[] {
    const frames: Frame[] = [];
    let bytes = this.#pending.byteLength === 0 ? Buffer.from(chunk) : Buffer.concat([this.#pending, chunk]);
    for (;;) {
      const used = this.#data === undefined ? this.#readHead(bytes, frames) : this.#readData(bytes, frames);
      if (used === 0) break;
      bytes = bytes.subarray(used);
    }
    this.#pending = bytes;
    return frames;
  }

  #readHead(bytes: Buffer, frames: Frame[]): number {
    if (bytes.byteLength < headBytes) return 0;
    const first = bytes.readUInt32BE(0);
    const flags = bytes[4] as number;
    const length = bytes.readUIntBE(5, 3);
    if (first < 2 ** 31) {
      this.#data = { streamId: first, flags, left: length };
      if (length === 0) this.#endData(frames, bytes.subarray(0, 0));
      return headBytes;
    }
    if (bytes.readUInt16BE(0) - 2 ** 15 !== version) throw new Error("a frame of another version");
    if (length > controlBytesMax) throw new Error("a control frame is too long");
    if (bytes.byteLength < headBytes + length) return 0;
    const payload = bytes.subarray(headBytes, headBytes + length);
    frames.push({ kind: "control", type: bytes.readUInt16BE(2), flags, payload });
    return headBytes + length;
  }

  #readData(bytes: Buffer, frames: Frame[]): number {
    const data = this.#data;
    if (data === undefined || bytes.byteLength === 0) return 0;
    const payload = bytes.subarray(0, data.left);
    data.left -= payload.byteLength;
    if (data.left === 0) this.#endData(frames, payload);
    else frames.push({ kind: "data", streamId: data.streamId, isLast: false, payload });
    return payload.byteLength;
  }

  #endData(frames: Frame[], payload: Buffer): void {
    const { streamId = 0, flags = 0 } = this.#data ?? {};
    this.#data = undefined;
    frames.push({ kind: "data", streamId, isLast: (flags & finFlag) !== 0, payload });
  }
}

export function dataFrame(streamId: number, payload: Uint8Array, isLast: boolean): Uint8Array {
  const head = Buffer.alloc(headBytes);
  head.writeUInt32BE(streamId, 0);
  head[4] = isLast ? finFlag : 0;
  head.writeUIntBE(payload.byteLength, 5, 3);
  return payload.byteLength === 0 ? head : Buffer.concat([head, payload]);
}

export function controlFrame(type: keyof typeof frameTypes, payload: Uint8Array, flags = 0): Uint8Array {
  const head = Buffer.alloc(headBytes);
  head.writeUInt16BE(2 ** 15 + version, 0);
  head.writeUInt16BE(frameTypes[type], 2);
  head[4] = flags;
  head.writeUIntBE(payload.byteLength, 5, 3);
  return Buffer.concat([head, payload]);
}

/** Returns numbers of 32 bits one after another, of which most control frames consist. */
export function words(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [at, value] of values.entries()) bytes.writeUInt32BE(value, at * 4);
  return bytes;
}
