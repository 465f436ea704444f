import {
  contentOf,
  type Frame,
  FrameReader,
  frameBytesMax,
  frameFlag,
  frameHead,
  frameType,
  numbersFrame,
  ProtocolError,
} from "./frame.ts";
import { encodeHeaders, HeaderDecoder } from "./header-block.ts";
import { MessageReader, MessageTooLargeError, messagePrefix } from "./message-reader.ts";
import { endOf, grpcCode, type StreamEnd } from "./stream-end.ts";

/** Bytes that the server may send before we confirm them, on each stream and on the connection. */
const receiveWindowBytes = 4 * 1024 * 1024;
/** The windows and the largest one that HTTP/2 allows, and the one with which both sides begin. */
const windowBytesMax = 2 ** 31 - 1;
const firstWindowBytes = 65_535;
/** The largest stream number. After it, a new connection is needed. */
const streamIdMax = 2 ** 31 - 1;
/** Maximum size of the headers of a response. */
const headerBytesMax = 64 * 1024;

const settings = { enablePush: 2, concurrentStreamsMax: 3, initialWindowSize: 4 } as const;
const errorCode = { none: 0, cancel: 8, refusedStream: 7 } as const;
const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/** The connection of a session. */
export interface GrpcTransport {
  /** Sends bytes behind those of former calls. */
  send(bytes: Uint8Array): void;
  close(): void;
}

export interface GrpcSessionOptions {
  readonly transport: GrpcTransport;
  /** Headers of every request. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly messageBytesMax: number;
  /** Called once, when the session takes no more streams. Those that are open may still go on. */
  readonly onEnd: (reason: string) => void;
}

export interface GrpcRequest {
  readonly path: string;
  /** The only message of the stream. */
  readonly message: Uint8Array;
  /** Time after which the server gives up. The caller has to cancel by itself. */
  readonly timeoutMs?: number;
  /** Leaves the stream open behind the message, as etcd's watches need. */
  readonly staysOpen?: boolean;
}

export interface StreamListener {
  message(bytes: Buffer): void;
  /** Called once, unless the stream was cancelled. */
  ended(end: StreamEnd): void;
}

/** A call under way. */
export interface GrpcStream {
  cancel(): void;
}

/**
 * The client's side of gRPC on one HTTP/2 connection, without the connection. It sends no pings: its user probes the
 * server with requests.
 */
export class GrpcSession {
  readonly #options: GrpcSessionOptions;
  readonly #frames = new FrameReader();
  readonly #headers = new HeaderDecoder();
  /** Encoded headers by path. */
  readonly #heads = new Map<string, Buffer>();
  readonly #streams = new Map<number, Stream>();
  /** Streams that wait until the server allows one more. */
  readonly #waiting = new Set<Stream>();
  /** Streams that wait for a window, in the order in which they began to. */
  readonly #blocked = new Set<Stream>();
  #nextId = 1;
  #streamsMax = Number.POSITIVE_INFINITY;
  #streamWindow = firstWindowBytes;
  #window = firstWindowBytes;
  /** Bytes received on the connection that are not confirmed. */
  #unconfirmed = 0;
  /** A header block whose rest has not arrived. */
  #partial: { readonly streamId: number; readonly flags: number; block: Buffer } | undefined;
  /** The reason why no streams can be opened. */
  #refusal: string | undefined;
  #isOver = false;

  constructor(options: GrpcSessionOptions) {
    this.#options = options;
    this.#send(preface);
    this.#send(
      settingsFrame([
        [settings.enablePush, 0],
        [settings.initialWindowSize, receiveWindowBytes],
      ]),
    );
    this.#send(numbersFrame(frameType.windowUpdate, 0, receiveWindowBytes - firstWindowBytes));
  }

  /** The reason why no streams can be opened; undefined if they can. */
  get refusal(): string | undefined {
    return this.#refusal;
  }

  /** Whether it takes no more streams, and goes on with those that are open. */
  get isLeaving(): boolean {
    return this.#refusal !== undefined && !this.#isOver;
  }

  /** Sends a request. There must be no `refusal`. */
  open(request: GrpcRequest, listener: StreamListener): GrpcStream {
    const stream = new Stream(request, listener, this.#options.messageBytesMax);
    if (this.#streams.size < this.#streamsMax) this.#start(stream);
    else this.#waiting.add(stream);
    return { cancel: () => this.#cancel(stream) };
  }

  /** Takes bytes that the connection has delivered. */
  receive(chunk: Buffer): void {
    if (this.#isOver) return;
    try {
      this.#frames.push(chunk, (frame) => this.#take(frame));
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      this.close(`the server breaks the protocol: ${error.message}`);
    }
  }

  /** Ends the session and all streams. */
  close(reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.transport.close();
    this.#refuse(reason);
    for (const stream of this.#streams.values()) {
      this.#streams.delete(stream.id);
      stream.listener.ended({ kind: "broken", reason });
    }
  }

  #send(bytes: Uint8Array): void {
    this.#options.transport.send(bytes);
  }

  #start(stream: Stream): void {
    const { path, timeoutMs } = stream.request;
    stream.id = this.#nextId;
    stream.window = this.#streamWindow;
    this.#streams.set(stream.id, stream);
    const head = this.#headOf(path);
    const limit = timeoutMs === undefined ? noBytes : timeoutHeader(timeoutMs);
    this.#send(frameHead(frameType.headers, frameFlag.endHeaders, stream.id, head.length + limit.length));
    this.#send(head);
    this.#send(limit);
    this.#sendMessage(stream);
    this.#nextId += 2;
    if (this.#nextId > streamIdMax) this.#refuse("the connection has no stream numbers left");
  }

  #headOf(path: string): Buffer {
    let head = this.#heads.get(path);
    if (head === undefined) {
      head = encodeHeaders([[":method", "POST"], [":path", path], ...this.#options.headers]);
      this.#heads.set(path, head);
    }
    return head;
  }

  /** Sends as much of a message as the windows permit. */
  #sendMessage(stream: Stream): void {
    while (stream.unsent.length > 0) {
      const bytes = Math.min(stream.unsent.length, stream.window, this.#window, frameBytesMax);
      if (bytes <= 0) return void this.#blocked.add(stream);
      const isRest = bytes === stream.unsent.length;
      const isEnd = isRest && stream.request.staysOpen !== true;
      this.#send(frameHead(frameType.data, isEnd ? frameFlag.endStream : 0, stream.id, bytes));
      this.#send(isRest ? stream.unsent : stream.unsent.subarray(0, bytes));
      stream.unsent = isRest ? noBytes : stream.unsent.subarray(bytes);
      stream.window -= bytes;
      this.#window -= bytes;
    }
    this.#blocked.delete(stream);
  }

  #take(frame: Frame): void {
    if (this.#isOver) return;
    const { type, streamId, payload } = frame;
    if (this.#partial !== undefined && type !== frameType.continuation)
      throw new ProtocolError("headers without an end");
    switch (type) {
      case frameType.data:
        return this.#takeData(frame);
      case frameType.headers:
        return this.#takeHeaders(streamId, frame.flags, contentOf(frame));
      case frameType.continuation: {
        const partial = this.#partial;
        if (partial?.streamId !== streamId) throw new ProtocolError("a continuation of nothing");
        this.#partial = undefined;
        const flags = partial.flags | (frame.flags & frameFlag.endHeaders);
        return this.#takeHeaders(streamId, flags, Buffer.concat([partial.block, payload]));
      }
      case frameType.reset:
        return this.#takeReset(streamId, numberIn(payload, 0));
      case frameType.settings:
        return this.#takeSettings(frame);
      case frameType.ping:
        if ((frame.flags & frameFlag.ack) !== 0) return;
        this.#send(frameHead(frameType.ping, frameFlag.ack, 0, payload.length));
        return this.#send(payload);
      case frameType.windowUpdate:
        return this.#takeWindow(streamId, numberIn(payload, 0) & windowBytesMax);
      case frameType.goAway:
        return this.#takeGoAway(payload);
      case frameType.pushPromise:
        throw new ProtocolError("a response that was not asked for");
    }
  }

  #takeData(frame: Frame): void {
    const { streamId, flags, payload } = frame;
    this.#unconfirmed += payload.length;
    if (this.#unconfirmed >= receiveWindowBytes / 2) {
      this.#send(numbersFrame(frameType.windowUpdate, 0, this.#unconfirmed));
      this.#unconfirmed = 0;
    }
    const stream = this.#streams.get(streamId);
    if (stream === undefined) return;
    try {
      stream.reader.push(contentOf(frame), (message) => {
        if (this.#streams.has(streamId)) stream.listener.message(message);
      });
    } catch (error) {
      if (!(error instanceof MessageTooLargeError)) throw error;
      return this.#end(stream, { kind: "status", code: grpcCode.resourceExhausted, message: error.message });
    }
    if ((flags & frameFlag.endStream) !== 0) {
      stream.isAnswered = true;
      return this.#end(stream, endOf(new Map()));
    }
    stream.unconfirmed += payload.length;
    if (stream.unconfirmed < receiveWindowBytes / 2) return;
    this.#send(numbersFrame(frameType.windowUpdate, streamId, stream.unconfirmed));
    stream.unconfirmed = 0;
  }

  #takeHeaders(streamId: number, flags: number, block: Buffer): void {
    if (block.length > headerBytesMax) throw new ProtocolError("headers that are too large");
    if ((flags & frameFlag.endHeaders) === 0) {
      this.#partial = { streamId, flags, block };
      return;
    }
    // Also of a stream that has ended, because later headers may refer to these.
    const fields = this.#headers.decode(block);
    const stream = this.#streams.get(streamId);
    if (stream === undefined) return;
    if ((flags & frameFlag.endStream) !== 0) {
      stream.isAnswered = true;
      const end = endOf(fields);
      const isCut = stream.reader.isInMessage && end.kind === "status" && end.code === grpcCode.ok;
      this.#end(stream, isCut ? { kind: "broken", reason: "the server sent a part of a message" } : end);
    } else if (!isInterim(fields) && fields.get(":status") !== "200") {
      this.#end(stream, endOf(fields));
    }
  }

  #takeReset(streamId: number, code: number): void {
    const stream = this.#streams.get(streamId);
    if (stream === undefined) return;
    stream.isReset = true;
    const reason = `the server reset the stream (code ${code})`;
    this.#end(stream, { kind: code === errorCode.refusedStream ? "unprocessed" : "broken", reason });
  }

  #takeSettings({ flags, payload }: Frame): void {
    if ((flags & frameFlag.ack) !== 0) return;
    for (let at = 0; at + 6 <= payload.length; at += 6) {
      const value = numberIn(payload, at + 2);
      const setting = payload.readUInt16BE(at);
      if (setting === settings.concurrentStreamsMax) this.#streamsMax = value;
      else if (setting === settings.initialWindowSize) {
        if (value > windowBytesMax) throw new ProtocolError("a window that is too large");
        for (const stream of this.#streams.values()) stream.window += value - this.#streamWindow;
        this.#streamWindow = value;
      }
    }
    this.#send(frameHead(frameType.settings, frameFlag.ack, 0, 0));
    this.#sendBlocked();
    this.#startWaiting();
  }

  #takeWindow(streamId: number, bytes: number): void {
    if (streamId === 0) {
      this.#window += bytes;
      this.#sendBlocked();
      return;
    }
    const stream = this.#streams.get(streamId);
    if (stream === undefined) return;
    stream.window += bytes;
    if (this.#blocked.has(stream)) this.#sendMessage(stream);
  }

  #sendBlocked(): void {
    for (const stream of this.#blocked) {
      if (this.#window <= 0) return;
      this.#sendMessage(stream);
    }
  }

  #startWaiting(): void {
    for (const stream of this.#waiting) {
      if (this.#streams.size >= this.#streamsMax || this.#refusal !== undefined) return;
      this.#waiting.delete(stream);
      this.#start(stream);
    }
  }

  #takeGoAway(payload: Buffer): void {
    const lastId = numberIn(payload, 0) & windowBytesMax;
    const code = numberIn(payload, 4);
    const text = payload.toString("latin1", 8);
    const reason = `the server closes the connection${code === errorCode.none ? "" : ` (code ${code} ${text})`}`;
    this.#refuse(reason);
    for (const stream of this.#streams.values()) {
      if (stream.id <= lastId) continue;
      stream.isReset = true;
      this.#end(stream, { kind: "unprocessed", reason });
    }
    this.#closeIfIdle();
  }

  /** Takes no more streams. */
  #refuse(reason: string): void {
    if (this.#refusal === undefined) {
      this.#refusal = reason;
      this.#options.onEnd(reason);
    }
    for (const stream of this.#waiting) {
      this.#waiting.delete(stream);
      stream.listener.ended({ kind: "unprocessed", reason });
    }
  }

  #cancel(stream: Stream): void {
    if (this.#waiting.delete(stream) || !this.#streams.has(stream.id)) return;
    this.#forget(stream);
  }

  #end(stream: Stream, end: StreamEnd): void {
    this.#forget(stream);
    stream.listener.ended(end);
  }

  #forget(stream: Stream): void {
    this.#streams.delete(stream.id);
    this.#blocked.delete(stream);
    if (!stream.isOver) this.#send(numbersFrame(frameType.reset, stream.id, errorCode.cancel));
    this.#startWaiting();
    this.#closeIfIdle();
  }

  #closeIfIdle(): void {
    if (this.isLeaving && this.#streams.size === 0) this.close(this.#refusal as string);
  }
}

/** Reports whether the headers only precede those of the answer, as a proxy may send them. */
function isInterim(fields: ReadonlyMap<string, string>): boolean {
  return fields.get(":status")?.startsWith("1") === true;
}

const noBytes = Buffer.alloc(0);

class Stream {
  readonly request: GrpcRequest;
  readonly listener: StreamListener;
  readonly reader: MessageReader;
  id = 0;
  /** Bytes that the server takes on this stream. */
  window = 0;
  /** Bytes received that are not confirmed. */
  unconfirmed = 0;
  /** The rest of the message. */
  unsent: Buffer;
  /** Whether the server has ended its side. */
  isAnswered = false;
  /** Whether the server has forgotten it. */
  isReset = false;

  constructor(request: GrpcRequest, listener: StreamListener, messageBytesMax: number) {
    const { message } = request;
    this.request = request;
    this.listener = listener;
    this.reader = new MessageReader(messageBytesMax);
    this.unsent = Buffer.concat([messagePrefix(message.byteLength), message]);
  }

  /** Whether both sides have ended it. */
  get isOver(): boolean {
    const isSent = this.unsent.length === 0 && this.request.staysOpen !== true;
    return this.isReset || (this.isAnswered && isSent);
  }
}

/** The largest number of digits in a grpc-timeout. */
const timeoutMsMax = 99_999_999;

function timeoutHeader(timeoutMs: number): Buffer {
  return encodeHeaders([["grpc-timeout", `${Math.min(Math.ceil(timeoutMs), timeoutMsMax)}m`]]);
}

function settingsFrame(values: readonly (readonly [setting: number, value: number])[]): Buffer {
  const payload = Buffer.alloc(6 * values.length);
  for (const [at, [setting, value]] of values.entries()) {
    payload.writeUInt16BE(setting, 6 * at);
    payload.writeUInt32BE(value, 6 * at + 2);
  }
  return Buffer.concat([frameHead(frameType.settings, 0, 0, payload.length), payload]);
}

/** @throws ProtocolError for a payload that ends early */
function numberIn(payload: Buffer, at: number): number {
  if (payload.length < at + 4) throw new ProtocolError("a frame that is too short");
  return payload.readUInt32BE(at);
}
