import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { readResponseHead, requestHead } from "../../../../http/connect/http1-head.ts";
import { thrownText } from "../../../../process/thrown-text.ts";
import {
  type ControlFrame,
  controlFrame,
  dataFrame,
  type Frame,
  FrameReader,
  finFlag,
  frameTypes,
  words,
} from "../../../serving/streaming/spdy/frame.ts";
import { HeaderCodec, type Headers } from "../../../serving/streaming/spdy/header-codec.ts";
import { SpdyStream, type StreamWriter } from "../../../serving/streaming/spdy/spdy-stream.ts";
import { RuntimeError } from "../../runtime.ts";

const connectTimeoutMs = 30_000;
const errorBytesMax = 64 * 1024;
const cancelStatus = 5;
const streamIdMask = 0x7fffffff;
/** The part of a frame that opens a stream between its id and its headers: another id, a priority, a slot. */
const synStreamRest = Buffer.alloc(6);

/** The client's side of SPDY/3.1, as the streaming servers of container runtimes speak it. */
export class SpdyClient implements StreamWriter {
  readonly #socket: Socket;
  readonly #streams = new Map<number, SpdyStream>();
  readonly #codec = new HeaderCodec();
  /** Headers depend on those before them, so that streams are opened one at a time. */
  #opening: Promise<unknown> = Promise.resolve();
  #nextStreamId = 1;
  readonly #ended: Promise<void>;

  private constructor(socket: Socket, rest: Uint8Array) {
    this.#socket = socket;
    this.#ended = this.#run(rest);
  }

  /**
   * Connects to the URL that a runtime has given for a session.
   * @throws RuntimeError with what the server says, if it refuses
   */
  static async connect(url: URL, protocol: string, signal: AbortSignal): Promise<SpdyClient> {
    const socket = await dial(url, signal);
    try {
      const head = requestHead("POST", `${url.pathname}${url.search}`, [
        ["Host", url.host],
        ["Connection", "Upgrade"],
        ["Upgrade", "SPDY/3.1"],
        ["X-Stream-Protocol-Version", protocol],
        ["Content-Length", "0"],
      ]);
      const answer = readResponseHead(socket);
      socket.write(head);
      const { code, rest } = await answer;
      if (code !== 101) {
        const text = await readText(socket, rest);
        throw new RuntimeError("RuntimeError", text === "" ? `the runtime's streaming server answered ${code}` : text);
      }
      return new SpdyClient(socket, rest);
    } catch (error) {
      socket.destroy();
      throw error instanceof RuntimeError ? error : new RuntimeError("RuntimeError", thrownText(error));
    }
  }

  /** Resolves when the connection has ended. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  open(headers: Headers): Promise<SpdyStream> {
    const opened = this.#opening.then(async () => {
      const id = this.#nextStreamId;
      this.#nextStreamId += 2;
      const stream = new SpdyStream(id, headers, this, false);
      this.#streams.set(id, stream);
      const block = await this.#codec.encode(headers);
      await this.#send(controlFrame("synStream", Buffer.concat([words(id), synStreamRest, block])));
      return stream;
    });
    this.#opening = opened.catch(() => {});
    return opened;
  }

  data(streamId: number, payload: Uint8Array, isLast: boolean): Promise<void> {
    return this.#send(dataFrame(streamId, payload, isLast));
  }

  reset(streamId: number): void {
    void this.#send(controlFrame("rstStream", words(streamId, cancelStatus)));
  }

  closed(streamId: number): void {
    this.#streams.delete(streamId);
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  async #run(rest: Uint8Array): Promise<void> {
    const reader = new FrameReader();
    try {
      for (const frame of reader.read(rest)) await this.#handle(frame);
      for await (const chunk of this.#socket as AsyncIterable<Uint8Array>) {
        for (const frame of reader.read(chunk)) await this.#handle(frame);
      }
    } catch {
      // A connection that breaks, or a frame that is not SPDY, ends the session like any other end.
    } finally {
      this.#socket.destroy();
      for (const stream of this.#streams.values()) stream.close();
      this.#codec[Symbol.dispose]();
    }
  }

  async #handle(frame: Frame): Promise<void> {
    if (frame.kind === "data") return this.#streams.get(frame.streamId)?.receive(frame.payload, frame.isLast);
    switch (frame.type) {
      case frameTypes.synReply:
      case frameTypes.headers:
        await this.#codec.decode(frame.payload.subarray(4));
        if ((frame.flags & finFlag) !== 0) this.#streams.get(streamIdOf(frame))?.receiveEnd();
        return;
      case frameTypes.rstStream:
        this.#streams.get(streamIdOf(frame))?.close();
        return;
      case frameTypes.ping:
        // Even numbers are the server's. An odd one would be an answer to ours.
        if (frame.payload.byteLength >= 4 && frame.payload.readUInt32BE(0) % 2 === 0) {
          await this.#send(controlFrame("ping", frame.payload.subarray(0, 4)));
        }
        return;
      default:
        return;
    }
  }

  /** Resolves when there is room for more. */
  async #send(frame: Uint8Array): Promise<void> {
    const socket = this.#socket;
    if (socket.destroyed || socket.write(frame)) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    socket.once("drain", resolve).once("close", resolve);
    await promise;
    socket.off("drain", resolve).off("close", resolve);
  }
}

function streamIdOf({ payload }: ControlFrame): number {
  return payload.byteLength < 4 ? 0 : payload.readUInt32BE(0) & streamIdMask;
}

async function dial(url: URL, signal: AbortSignal): Promise<Socket> {
  const isTls = url.protocol === "https:";
  const port = Number(url.port === "" ? (isTls ? 443 : 80) : url.port);
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const socket = isTls ? connectTls({ host, port, servername: host }) : connectTcp({ host, port });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const stop = () => socket.destroy(new Error("the connection was not made in time"));
  const timer = setTimeout(stop, connectTimeoutMs);
  socket.once(isTls ? "secureConnect" : "connect", resolve).once("error", reject);
  // Stays for the whole session, so that its signal ends it.
  signal.addEventListener("abort", () => socket.destroy(), { once: true });
  socket.once("close", () => reject(new Error("the connection was closed")));
  socket.on("error", () => {});
  if (signal.aborted) socket.destroy();
  try {
    await promise;
  } catch (error) {
    throw new RuntimeError("RuntimeError", `cannot reach the runtime's streaming server: ${thrownText(error)}`);
  } finally {
    clearTimeout(timer);
  }
  return socket.pause();
}

async function readText(socket: Socket, rest: Buffer): Promise<string> {
  const chunks: Uint8Array[] = [rest];
  let bytes = rest.byteLength;
  try {
    for await (const chunk of socket as AsyncIterable<Uint8Array>) {
      chunks.push(chunk);
      bytes += chunk.byteLength;
      if (bytes > errorBytesMax) break;
    }
  } catch {
    // The part that has arrived says enough.
  }
  return Buffer.concat(chunks).toString().trim();
}
