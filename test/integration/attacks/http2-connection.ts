import { connect, type TLSSocket } from "node:tls";
import type { TestServer } from "../server.ts";

export const frameTypes = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;
export const endStream = 1;
export const endHeaders = 4;
const headBytes = 9;

export function frame(type: number, flags: number, stream: number, payload: Uint8Array = new Uint8Array()): Buffer {
  const bytes = Buffer.alloc(headBytes + payload.length);
  bytes.writeUIntBE(payload.length, 0, 3);
  bytes[3] = type;
  bytes[4] = flags;
  bytes.writeUInt32BE(stream, 5);
  bytes.set(payload, headBytes);
  return bytes;
}

/** Encodes a header field literally. With `isIndexed`, the decoder adds it to its table. */
export function field(name: string, value: string, isIndexed = false): Buffer {
  return Buffer.concat([Buffer.of(isIndexed ? 0x40 : 0), text(name), text(value)]);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, "latin1");
  const length = [];
  let rest = bytes.length;
  if (rest < 127) length.push(rest);
  else {
    length.push(127);
    for (rest -= 127; rest >= 128; rest >>= 7) length.push((rest & 127) | 128);
    length.push(rest);
  }
  return Buffer.concat([Buffer.from(length), bytes]);
}

interface Frame {
  readonly type: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** An HTTP/2 connection on which any bytes can be sent. */
export class Http2Connection implements Disposable {
  readonly #socket: TLSSocket;
  readonly #token: string;
  /** Frames that were received, without their data. */
  readonly frames: Frame[] = [];
  /** Resolves when the server has closed the connection. */
  readonly closed: Promise<void>;
  #isClosed = false;
  #rest: Buffer = Buffer.alloc(0);

  private constructor(server: TestServer, socket: TLSSocket) {
    this.#socket = socket;
    this.#token = server.running.token;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.closed = promise;
    socket.on("error", () => {});
    socket.on("close", () => {
      this.#isClosed = true;
      resolve();
    });
    socket.on("data", (chunk: Buffer) => this.#receive(chunk));
  }

  static async open(server: TestServer): Promise<Http2Connection> {
    const { port, ca } = server.running;
    const socket = connect({ host: "127.0.0.1", port, ca, ALPNProtocols: ["h2"] });
    socket.setMaxListeners(0);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    socket.once("secureConnect", resolve);
    socket.once("error", reject);
    await promise;
    const connection = new Http2Connection(server, socket);
    await connection.send(Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(frameTypes.settings, 0, 0));
    return connection;
  }

  /** Sends bytes as fast as they are accepted, until the server closes the connection. */
  async send(...parts: readonly Uint8Array[]): Promise<void> {
    for (const part of parts) {
      if (this.#isClosed) return;
      if (this.#socket.write(part)) continue;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#socket.once("drain", resolve);
      await Promise.race([promise, this.closed]);
    }
  }

  /** Returns the header block of an administrator's request. */
  head(method: string, path: string, ...more: readonly Buffer[]): Buffer {
    const names = [
      field(":method", method),
      field(":scheme", "https"),
      field(":path", path),
      field(":authority", "kubernetes"),
      field("authorization", `Bearer ${this.#token}`),
    ];
    return Buffer.concat([...names, ...more]);
  }

  /** The codes of the connection errors that the server has reported. */
  get goAways(): number[] {
    return this.frames.filter(({ type }) => type === frameTypes.goAway).map(({ payload }) => payload.readUInt32BE(4));
  }

  count(type: number): number {
    return this.frames.filter((each) => each.type === type).length;
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  #receive(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    while (this.#rest.length >= headBytes) {
      const end = headBytes + this.#rest.readUIntBE(0, 3);
      if (this.#rest.length < end) return;
      const type = this.#rest[3] as number;
      const payload = type === frameTypes.data ? Buffer.alloc(0) : this.#rest.subarray(headBytes, end);
      this.frames.push({ type, stream: this.#rest.readUInt32BE(5), payload });
      this.#rest = this.#rest.subarray(end);
    }
  }
}
