import { connect, type TLSSocket } from "node:tls";
import type { Clock } from "../../process/clock.ts";
import type { Endpoint } from "../service-endpoints.ts";
import { AnswerReader, type Http1Answer } from "./answer-reader.ts";

/** Limit of the connections without a request that are kept, to all servers together. */
const idleConnectionsMax = 256;
/** Time for which a connection without a request is kept, as in Go's client. */
const idleMsMax = 90_000;

/** How a connection proves who both sides are. */
export interface ConnectionTls {
  /** The name in the server's certificate; undefined for the address itself. */
  readonly serverName?: string | undefined;
  /** PEM; undefined for the authorities of the system. */
  readonly ca?: string | undefined;
  /** Our certificate and its key, PEM. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

export interface Http1Request {
  readonly target: Endpoint;
  readonly tls: ConnectionTls;
  /** Head and body. */
  readonly text: string;
  readonly answerBytesMax: number;
  readonly signal: AbortSignal;
}

/**
 * Sends requests of HTTP/1.1 over TLS, one at a time on each connection. Connections are kept, and shared by all
 * requests to one address with the same proofs. It works on the thread of its caller: where the network is near, the way
 * to the thread of `fetch` and back costs more than a request itself.
 */
export class KeepAliveClient {
  readonly #clock: Clock;
  /** Longest idle first. */
  readonly #idle: Connection[] = [];
  #sweep: Disposable | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Sends a request and reads the whole answer. Sends it again if a kept connection turns out to be closed.
   * @throws Error of the connection, AnswerError, or the reason of the signal
   */
  async send(request: Http1Request): Promise<Http1Answer> {
    const kept = this.#takeIdle(request);
    if (kept !== undefined) {
      const answer = await this.#exchange(kept, request);
      if (answer !== undefined) return answer;
    }
    const made = new Connection(request, await opened(request), (connection) => this.#forget(connection));
    const answer = await this.#exchange(made, request);
    if (answer === undefined) throw connectionClosed();
    return answer;
  }

  async #exchange(connection: Connection, request: Http1Request): Promise<Http1Answer | undefined> {
    const answer = await connection.send(request);
    if (answer?.keepsAlive === true && connection.isOpen) this.#keep(connection);
    else connection.close();
    return answer;
  }

  #takeIdle({ target, tls }: Http1Request): Connection | undefined {
    const at = this.#idle.findLastIndex((connection) => connection.serves(target, tls));
    return at === -1 ? undefined : this.#idle.splice(at, 1)[0];
  }

  #keep(connection: Connection): void {
    connection.idleSinceMs = this.#clock.steadyMs();
    this.#idle.push(connection);
    if (this.#idle.length > idleConnectionsMax) this.#idle.shift()?.close();
    this.#sweep ??= this.#clock.every(idleMsMax / 2, () => this.#closeIdle());
  }

  #closeIdle(): void {
    const nowMs = this.#clock.steadyMs();
    while ((this.#idle[0]?.idleSinceMs ?? nowMs) + idleMsMax <= nowMs) this.#idle.shift()?.close();
    if (this.#idle.length > 0) return;
    this.#sweep?.[Symbol.dispose]();
    this.#sweep = undefined;
  }

  #forget(connection: Connection): void {
    const at = this.#idle.indexOf(connection);
    if (at !== -1) this.#idle.splice(at, 1);
  }
}

/** The answer that a connection waits for. */
interface Awaited {
  readonly reader: AnswerReader;
  readonly resolve: (answer: Http1Answer | undefined) => void;
  readonly reject: (error: unknown) => void;
  hasBegun: boolean;
}

class Connection {
  readonly #target: Endpoint;
  readonly #tls: ConnectionTls;
  readonly #socket: TLSSocket;
  #awaited: Awaited | undefined;
  #wasUsed = false;
  idleSinceMs = 0;

  constructor({ target, tls }: Http1Request, socket: TLSSocket, onClose: (connection: Connection) => void) {
    this.#target = target;
    this.#tls = tls;
    this.#socket = socket;
    // A kept connection does not keep the process alive.
    socket.unref();
    socket.on("data", (piece: Buffer) => this.#onData(piece));
    socket.on("error", (error) => this.#onEnd(error));
    socket.once("close", () => {
      this.#onEnd(undefined);
      onClose(this);
    });
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed && this.#socket.writableLength === 0;
  }

  serves(target: Endpoint, { serverName, ca, cert, key }: ConnectionTls): boolean {
    const { host, port } = this.#target;
    const own = this.#tls;
    const isSamePlace = host === target.host && port === target.port && own.serverName === serverName;
    return isSamePlace && own.ca === ca && own.cert === cert && own.key === key;
  }

  /** Resolves with undefined if a connection that was used before ends without a byte of an answer. */
  async send({ text, answerBytesMax, signal }: Http1Request): Promise<Http1Answer | undefined> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<Http1Answer | undefined>();
    this.#awaited = { reader: new AnswerReader(answerBytesMax), resolve, reject, hasBegun: false };
    const abort = () => this.#fail(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    try {
      this.#socket.write(text);
      return await promise;
    } finally {
      signal.removeEventListener("abort", abort);
      this.#wasUsed = true;
    }
  }

  close(): void {
    this.#socket.destroy();
  }

  #onData(piece: Buffer): void {
    const awaited = this.#awaited;
    // Nobody has asked.
    if (awaited === undefined) return this.close();
    awaited.hasBegun = true;
    try {
      const answer = awaited.reader.read(piece);
      if (answer !== undefined) this.#settle(answer);
    } catch (error) {
      this.#fail(error);
    }
  }

  #onEnd(error: Error | undefined): void {
    const awaited = this.#awaited;
    if (awaited === undefined) return;
    const answer = error === undefined ? awaited.reader.end() : undefined;
    if (answer !== undefined || (this.#wasUsed && !awaited.hasBegun)) this.#settle(answer);
    else this.#fail(error ?? connectionClosed());
  }

  #settle(answer: Http1Answer | undefined): void {
    const awaited = this.#awaited;
    this.#awaited = undefined;
    awaited?.resolve(answer);
  }

  #fail(error: unknown): void {
    const awaited = this.#awaited;
    this.#awaited = undefined;
    this.close();
    awaited?.reject(error);
  }
}

/** Resolves when the server has proved who it is. */
function opened({ target, tls, signal }: Http1Request): Promise<TLSSocket> {
  signal.throwIfAborted();
  const { host, port } = target;
  const { serverName, ca, cert, key } = tls;
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>();
  const socket = connect({
    host,
    port,
    ALPNProtocols: ["http/1.1"],
    rejectUnauthorized: true,
    // Go trusts every certificate of a bundle, also one that another certificate signed.
    allowPartialTrustChain: true,
    ...(serverName === undefined ? {} : { servername: serverName }),
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert, key }),
  });
  const settled = () => {
    signal.removeEventListener("abort", abort);
    socket.off("error", fail);
    socket.off("close", closed);
  };
  const fail = (error: unknown) => {
    settled();
    socket.on("error", () => undefined);
    socket.destroy();
    reject(error);
  };
  const abort = () => fail(signal.reason);
  const closed = () => fail(connectionClosed());
  signal.addEventListener("abort", abort, { once: true });
  socket.once("error", fail);
  socket.once("close", closed);
  socket.once("secureConnect", () => {
    settled();
    socket.setNoDelay(true);
    resolve(socket);
  });
  return promise;
}

function connectionClosed(): Error {
  return Object.assign(new Error("the connection was closed"), { code: "ECONNRESET" });
}
