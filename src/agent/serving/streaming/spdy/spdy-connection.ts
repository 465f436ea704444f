import type { Link } from "../link.ts";
import {
  type ControlFrame,
  controlFrame,
  dataFrame,
  type Frame,
  FrameReader,
  finFlag,
  frameTypes,
  isUnidirectional,
  words,
} from "./frame.ts";
import { HeaderCodec, type Headers } from "./header-codec.ts";
import { SpdyStream, type StreamWriter } from "./spdy-stream.ts";

/** Streams that are open at the same time. Further ones are refused. */
export const openStreamsMax = 256;

/** A message that the client's side answers by itself. Even numbers are those of servers. */
export const spdyPing = controlFrame("ping", words(2));

const resetStatus = { protocolError: 1, refusedStream: 3, cancel: 5 } as const;
const streamIdMask = 0x7fffffff;
const synStreamBytes = 10;

/** Decides about the streams that a client opens. */
export interface StreamHandler {
  /** Returns why a stream with these headers is refused, if it is. */
  refusalOf?(headers: Headers): string | undefined;
  /** Takes a stream that was not refused. */
  open(stream: SpdyStream): void;
}

/**
 * The server's side of SPDY/3.1, as Kubernetes' clients speak it. They have no flow control, so neither has this: a
 * stream that nobody reads stops the connection when its queue is full. We open no streams.
 */
export class SpdyConnection implements StreamWriter {
  readonly #link: Link;
  readonly #handler: StreamHandler;
  readonly #onRefused: (reason: string) => void;
  readonly #streams = new Map<number, SpdyStream>();
  readonly #codec = new HeaderCodec();
  #lastStreamId = 0;
  #isClosed = false;

  constructor(link: Link, handler: StreamHandler, onRefused: (reason: string) => void = () => {}) {
    this.#link = link;
    this.#handler = handler;
    this.#onRefused = onRefused;
  }

  /** Reads frames until the client closes the connection or violates the protocol. */
  async run(): Promise<void> {
    const reader = new FrameReader();
    try {
      for await (const chunk of this.#link.input) {
        // The client may send more before it sees our end.
        if (this.#isClosed) continue;
        for (const frame of reader.read(chunk)) {
          if (!(await this.#handle(frame))) return;
        }
      }
    } catch (error) {
      this.#onRefused((error as Error).message);
    } finally {
      this.close();
    }
  }

  /** Ends all streams and tells the client. */
  close(): void {
    if (this.#isClosed) return;
    for (const stream of this.#streams.values()) stream.end();
    void this.#send(controlFrame("goAway", words(this.#lastStreamId, 0)));
    this.#isClosed = true;
    for (const stream of this.#streams.values()) stream.close();
    this.#codec[Symbol.dispose]();
  }

  async data(streamId: number, payload: Uint8Array, isLast: boolean): Promise<void> {
    if (!this.#isClosed) await this.#link.write(dataFrame(streamId, payload, isLast));
  }

  reset(streamId: number): void {
    void this.#reset(streamId, resetStatus.cancel);
  }

  closed(streamId: number): void {
    this.#streams.delete(streamId);
  }

  /** @returns whether more frames may follow @throws Error for a frame after which the connection cannot be used */
  async #handle(frame: Frame): Promise<boolean> {
    if (frame.kind === "data") {
      await this.#streams.get(frame.streamId)?.receive(frame.payload, frame.isLast);
      return true;
    }
    switch (frame.type) {
      case frameTypes.synStream:
        await this.#open(frame);
        return true;
      case frameTypes.headers:
        await this.#codec.decode(frame.payload.subarray(4));
        if ((frame.flags & finFlag) !== 0) this.#streams.get(streamIdOf(frame))?.receiveEnd();
        return true;
      case frameTypes.rstStream:
        this.#streams.get(streamIdOf(frame))?.close();
        return true;
      case frameTypes.ping:
        // Odd numbers are the client's. An even one would be an answer to ours.
        if (frame.payload.byteLength >= 4 && frame.payload.readUInt32BE(0) % 2 === 1) {
          await this.#send(controlFrame("ping", frame.payload.subarray(0, 4)));
        }
        return true;
      case frameTypes.goAway:
        return false;
      default:
        return true;
    }
  }

  async #open(frame: ControlFrame): Promise<void> {
    if (frame.payload.byteLength < synStreamBytes) throw new Error("a frame is too short");
    const id = streamIdOf(frame);
    const headers = await this.#codec.decode(frame.payload.subarray(synStreamBytes));
    if (id % 2 === 0 || id <= this.#lastStreamId) return this.#reset(id, resetStatus.protocolError);
    this.#lastStreamId = id;
    if (this.#streams.size >= openStreamsMax) return this.#reset(id, resetStatus.refusedStream);
    const refusal = this.#handler.refusalOf?.(headers);
    if (refusal !== undefined) {
      this.#onRefused(refusal);
      return this.#reset(id, resetStatus.cancel);
    }
    const stream = new SpdyStream(id, headers, this, isUnidirectional(frame));
    this.#streams.set(id, stream);
    const reply = await this.#codec.encode(new Map());
    await this.#send(controlFrame("synReply", Buffer.concat([words(id), reply])));
    this.#handler.open(stream);
    if ((frame.flags & finFlag) !== 0) stream.receiveEnd();
  }

  #reset(streamId: number, status: number): Promise<void> {
    return this.#send(controlFrame("rstStream", words(streamId, status)));
  }

  async #send(frame: Uint8Array): Promise<void> {
    if (!this.#isClosed) await this.#link.write(frame);
  }
}

function streamIdOf({ payload }: ControlFrame): number {
  if (payload.byteLength < 4) throw new Error("a frame is too short");
  return payload.readUInt32BE(0) & streamIdMask;
}
