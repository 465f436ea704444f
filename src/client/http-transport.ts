import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from "node:http2";
import type { Clock } from "../process/clock.ts";
import { connectionFailureText } from "./connection-failure.ts";
import type { TlsOptions } from "./json-endpoint.ts";
import type { KubeconfigServer, Proof } from "./kubeconfig.ts";
import { NoAnswerError, type Transport, type TransportAnswer, type TransportRequest } from "./transport.ts";

/** Timeout of the handshakes. */
const connectMsMax = 10_000;
/** Interval of pings on an open connection. One that has not answered by the next ping is closed. */
const pingIntervalMs = 20_000;
/** Unread bytes of one stream, at which the server of a watch has to wait. */
const streamWindowBytes = 1024 * 1024;
/** Connections that a request is tried on while servers that are shutting down refuse it. */
const attemptsMax = 3;
/** Error codes of streams that never reached the server's program, because the connection was being closed. */
const turnedAwayCodes = ["ERR_HTTP2_GOAWAY_SESSION", "ERR_HTTP2_INVALID_SESSION"];
/** Streams on one connection, as many as servers commonly allow. Further requests use another connection. */
const streamsMax = 100;
/** Number of connections. Further requests wait for a free stream. */
const connectionsMax = 16;

/**
 * Sends requests over one HTTP/2 connection, or several when it is full, and keeps them open. A connection that the
 * server is about to close, or that was opened with another certificate, ends with its last stream.
 */
export class HttpTransport implements Transport {
  readonly #server: KubeconfigServer;
  readonly #clock: Clock;
  readonly #origin: string;
  /** Path of the server's URL; usually "". */
  readonly #prefix: string;
  readonly #connections = new Set<Connection>();

  constructor(server: KubeconfigServer, clock: Clock) {
    const { origin, pathname } = new URL(server.url);
    this.#server = server;
    this.#clock = clock;
    this.#origin = origin;
    this.#prefix = pathname.replace(/\/$/, "");
  }

  async send(request: TransportRequest): Promise<TransportAnswer> {
    const proof = await this.#server.proof();
    const answer = await this.#sendWith(proof, request);
    if (answer.code !== 401 || !this.#server.renew(proof)) return answer;
    for await (const _ of answer.body) break;
    return this.#sendWith(await this.#server.proof(), request);
  }

  [Symbol.dispose](): void {
    for (const connection of this.#connections) connection[Symbol.dispose]();
  }

  async #sendWith({ tls, authorization }: Proof, request: TransportRequest): Promise<TransportAnswer> {
    const headers = authorization === undefined ? request.headers : { ...request.headers, authorization };
    const outgoing = { ...request, target: this.#prefix + request.target, headers };
    for (let attempt = 1; ; attempt++) {
      const connection = this.#connected(tls);
      try {
        return await connection.send(outgoing);
      } catch (error) {
        const mayRepeat = error instanceof NoAnswerError && error.outcome === "notDone" && connection.wasUsed;
        if (!mayRepeat || attempt === attemptsMax) throw error;
        connection.leave();
      }
    }
  }

  #connected(tls: TlsOptions): Connection {
    const open = [...this.#connections].filter((connection) => connection.serves(tls));
    for (const connection of this.#connections) if (!open.includes(connection)) connection.leave();
    const chosen = open.toSorted((a, b) => a.streams - b.streams)[0];
    if (chosen !== undefined && (chosen.streams < streamsMax || open.length >= connectionsMax)) return chosen;
    const connection = new Connection(this.#origin, tls, this.#clock, () => this.#connections.delete(connection));
    this.#connections.add(connection);
    return connection;
  }
}

class Connection implements Disposable {
  readonly #origin: string;
  readonly #tls: TlsOptions;
  readonly #session: ClientHttp2Session;
  readonly #timers = new DisposableStack();
  /** Open streams. */
  streams = 0;
  #isConnected = false;
  #leaving = false;
  #failure: unknown;

  constructor(origin: string, tls: TlsOptions, clock: Clock, onClose: () => void) {
    this.#origin = origin;
    this.#tls = tls;
    const { serverName, ...options } = tls;
    const session = connect(origin, {
      ...options,
      ...(serverName === undefined ? {} : { servername: serverName }),
      settings: { initialWindowSize: streamWindowBytes, enablePush: false },
    });
    this.#session = session;
    const late = clock.after(connectMsMax, () => this.#fail(new Error("it does not answer in time")));
    this.#timers.use(late);
    session.once("connect", () => {
      this.#isConnected = true;
      late[Symbol.dispose]();
      this.#watchOver(clock);
    });
    session.on("goaway", () => this.leave());
    session.on("error", (error) => this.#fail(error));
    session.once("close", () => {
      this.#leaving = true;
      this.#timers.dispose();
      onClose();
    });
  }

  /** Whether it was ever open. Otherwise another attempt would only take longer. */
  get wasUsed(): boolean {
    return this.#isConnected;
  }

  /** Whether it takes new requests. */
  serves({ ca, cert, key }: TlsOptions): boolean {
    const isOpen = !this.#leaving && !this.#session.closed && !this.#session.destroyed;
    return isOpen && ca === this.#tls.ca && cert === this.#tls.cert && key === this.#tls.key;
  }

  /** Takes no new requests, and closes after the current ones. */
  leave(): void {
    if (this.#leaving) return;
    this.#leaving = true;
    this.#session.close();
  }

  async send({ method, target, headers, body, signal }: TransportRequest): Promise<TransportAnswer> {
    signal.throwIfAborted();
    let stream: ClientHttp2Stream;
    try {
      const head = { ...headers, ":method": method, ":path": target };
      stream = this.#session.request(head, { endStream: body === undefined });
    } catch (error) {
      throw this.#noAnswer(error);
    }
    const abort = () => stream.close(constants.NGHTTP2_CANCEL);
    signal.addEventListener("abort", abort, { once: true });
    this.streams++;
    stream.once("close", () => {
      this.streams--;
      signal.removeEventListener("abort", abort);
    });
    if (body !== undefined) stream.end(body);
    const { code, retryAfter } = await this.#head(stream);
    const seconds = Number(retryAfter ?? Number.NaN);
    const retryAfterSeconds = Number.isFinite(seconds) ? seconds : undefined;
    return { code, retryAfterSeconds, body: this.#body(stream, signal) };
  }

  [Symbol.dispose](): void {
    this.#leaving = true;
    this.#session.destroy();
  }

  #head(stream: ClientHttp2Stream): Promise<{ code: number; retryAfter: string | undefined }> {
    const { promise, resolve, reject } = Promise.withResolvers<{ code: number; retryAfter: string | undefined }>();
    stream.once("response", (head) => resolve({ code: head[":status"] ?? 0, retryAfter: head["retry-after"] }));
    stream.on("error", (error) => reject(this.#noAnswer(error, stream)));
    stream.once("close", () => reject(this.#noAnswer(new Error("the connection was closed"), stream)));
    return promise;
  }

  async *#body(stream: ClientHttp2Stream, signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
    let ended = false;
    stream.once("end", () => (ended = true));
    try {
      for await (const chunk of stream) yield chunk as Buffer;
    } catch (error) {
      throw this.#noAnswer(error);
    } finally {
      if (!ended) stream.close(constants.NGHTTP2_CANCEL);
    }
    signal.throwIfAborted();
    const isCut = !ended || stream.rstCode !== constants.NGHTTP2_NO_ERROR || this.#failure !== undefined;
    if (isCut) throw this.#noAnswer(new Error("the connection was closed"));
  }

  /** Only silence shows that a machine is gone. */
  #watchOver(clock: Clock): void {
    let isAwaited = false;
    const ask = () => {
      if (isAwaited) return this.#fail(new Error("it gives no sign of life"));
      isAwaited = true;
      this.#session.ping((error) => {
        if (error === null) isAwaited = false;
      });
    };
    if (!this.#timers.disposed) this.#timers.use(clock.every(pingIntervalMs, ask));
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    this.#leaving = true;
    this.#session.destroy();
  }

  #noAnswer(error: unknown, stream?: ClientHttp2Stream): NoAnswerError {
    const why = connectionFailureText(this.#failure ?? error);
    const isRefused = stream?.rstCode === constants.NGHTTP2_REFUSED_STREAM;
    const wasTurnedAway = isRefused || turnedAwayCodes.includes((error as { code?: string }).code ?? "");
    const outcome = wasTurnedAway || !this.#isConnected ? ({ outcome: "notDone" } as const) : {};
    return new NoAnswerError(`cannot reach ${this.#origin}: ${why}`, { cause: error, ...outcome });
  }
}
