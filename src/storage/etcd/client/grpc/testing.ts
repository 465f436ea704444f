import { type Frame, FrameReader, frameFlag, frameHead, frameType } from "./frame.ts";
import { type GrpcRequest, GrpcSession, type GrpcStream } from "./grpc-session.ts";
import { encodeHeaders, HeaderDecoder } from "./header-block.ts";
import { messagePrefix } from "./message-reader.ts";
import type { StreamEnd } from "./stream-end.ts";

/** A stream, its messages and its end. */
export interface Delivered {
  readonly stream: GrpcStream;
  readonly messages: string[];
  readonly ends: StreamEnd[];
}

/** The other side of a session, which writes each frame by hand. */
export class TestServer {
  readonly session: GrpcSession;
  /** Frames of the session since the last look. */
  #frames: Frame[] = [];
  isClosed = false;
  /** The reason why the session takes no more streams. */
  ended: string | undefined;

  constructor(messageBytesMax = 1_000_000) {
    const reader = new FrameReader();
    let prefaceBytes = 24;
    this.session = new GrpcSession({
      transport: {
        send: (bytes) => {
          const skipped = Math.min(prefaceBytes, bytes.byteLength);
          prefaceBytes -= skipped;
          reader.push(Buffer.from(bytes).subarray(skipped), (frame) => this.#frames.push(frame));
        },
        close: () => {
          this.isClosed = true;
        },
      },
      headers: [
        [":scheme", "http"],
        [":authority", "test"],
      ],
      messageBytesMax,
      onEnd: (reason) => {
        this.ended = reason;
      },
    });
  }

  /** Returns the frames that the session has sent since the last call. */
  sent(): Frame[] {
    return this.#frames.splice(0);
  }

  open(request: Partial<GrpcRequest> = {}): Delivered {
    const messages: string[] = [];
    const ends: StreamEnd[] = [];
    const stream = this.session.open(
      { path: "/test", message: Buffer.from("request"), ...request },
      { message: (bytes) => messages.push(bytes.toString()), ended: (end) => ends.push(end) },
    );
    return { stream, messages, ends };
  }

  send(type: number, flags: number, streamId: number, payload: Uint8Array = Buffer.alloc(0)): void {
    this.session.receive(Buffer.concat([frameHead(type, flags, streamId, payload.byteLength), payload]));
  }

  headers(streamId: number, fields: Readonly<Record<string, string>>, flags = 0): void {
    this.send(frameType.headers, flags | frameFlag.endHeaders, streamId, encodeHeaders(Object.entries(fields)));
  }

  message(streamId: number, text: string): void {
    const bytes = Buffer.from(text);
    this.send(frameType.data, 0, streamId, Buffer.concat([messagePrefix(bytes.length), bytes]));
  }

  /** Answers a call. */
  answer(streamId: number, text: string): void {
    this.headers(streamId, { ":status": "200" });
    this.message(streamId, text);
    this.headers(streamId, { "grpc-status": "0" }, frameFlag.endStream);
  }

  settings(values: Readonly<Record<number, number>>): void {
    const parts = Object.entries(values).map(([setting, value]) => {
      const part = Buffer.alloc(6);
      part.writeUInt16BE(Number(setting));
      part.writeUInt32BE(value, 2);
      return part;
    });
    this.send(frameType.settings, 0, 0, Buffer.concat(parts));
  }

  goAway(lastId: number, code: number, text = ""): void {
    const numbers = Buffer.alloc(8);
    numbers.writeUInt32BE(lastId);
    numbers.writeUInt32BE(code, 4);
    this.send(frameType.goAway, 0, 0, Buffer.concat([numbers, Buffer.from(text)]));
  }
}

/** Returns the headers in a frame. */
export function headersOf({ payload }: Frame): Record<string, string> {
  return Object.fromEntries(new HeaderDecoder().decode(payload));
}
