import type { HttpResponse, IncomingRequest } from "../../../../request/exchange.ts";
import { type ForwardOptions, parsePort } from "../forward-session.ts";
import { type Link, runOnLink } from "../link.ts";
import type { Headers } from "./header-codec.ts";
import { SpdyConnection, spdyPing } from "./spdy-connection.ts";
import { spdyRequest } from "./spdy-request.ts";
import type { SpdyStream } from "./spdy-stream.ts";

export const forwardProtocol = "portforward.k8s.io";
/** Time for the client to create the second stream of a pair. */
const creationTimeoutMs = 30_000;
const portHeader = "port";
const typeHeader = "streamtype";

/** Serves forwarded connections over SPDY. @throws TextError for another request */
export function spdyForwardSession(request: IncomingRequest, options: ForwardOptions): HttpResponse {
  const { upgraded, headers } = spdyRequest(request, [forwardProtocol]);
  return {
    kind: "stream",
    code: 101,
    headers,
    run: (sink) => runOnLink(upgraded, sink, options, spdyPing, (link) => serveForwards(link, options)),
  };
}

/** Serves pairs of streams, each a forwarded connection, until the client closes. */
export async function serveForwards(link: Link, options: ForwardOptions): Promise<void> {
  const pairs = new StreamPairs(link.signal, options);
  const connection = new SpdyConnection(
    link,
    { refusalOf: refusalOf, open: (stream) => pairs.add(stream) },
    options.onBroken,
  );
  try {
    await connection.run();
  } finally {
    pairs.end();
  }
}

/** Returns why a stream with these headers is refused. */
function refusalOf(headers: Headers): string | undefined {
  const port = headers.get(portHeader) ?? "";
  if (port === "") return '"port" header is required';
  const parsed = parsePort(port);
  if (typeof parsed === "string") return parsed;
  const type = headers.get(typeHeader) ?? "";
  if (type === "") return '"streamType" header is required';
  return type === "data" || type === "error" ? undefined : `invalid stream type ${JSON.stringify(type)}`;
}

interface StreamPair {
  data?: SpdyStream;
  error?: SpdyStream;
  readonly timer: Disposable;
}

/** The pairs of one connection. The limit of its streams bounds their number. */
class StreamPairs {
  readonly #options: ForwardOptions;
  readonly #ended = new AbortController();
  readonly #signal: AbortSignal;
  /** Pairs that lack a stream, by the id of their request. */
  readonly #waiting = new Map<string, StreamPair>();

  constructor(closed: AbortSignal, options: ForwardOptions) {
    this.#options = options;
    this.#signal = AbortSignal.any([closed, this.#ended.signal]);
  }

  add(stream: SpdyStream): void {
    const type = stream.headers.get(typeHeader) === "data" ? "data" : "error";
    const id = requestIdOf(stream, type);
    let pair = this.#waiting.get(id);
    if (pair === undefined) {
      pair = { timer: this.#options.clock.after(creationTimeoutMs, () => this.#giveUp(id)) };
      this.#waiting.set(id, pair);
    }
    if (pair[type] !== undefined) {
      const text = `error processing stream for request ${id}: ${type} stream already assigned`;
      void pair.error?.write(Buffer.from(text));
      return stream.reset();
    }
    pair[type] = stream;
    if (type === "error") stream.discardInput();
    const { data, error, timer } = pair;
    if (data === undefined || error === undefined) return;
    timer[Symbol.dispose]();
    this.#waiting.delete(id);
    void this.#forward(data, error);
  }

  /** Ends all forwarded connections. */
  end(): void {
    this.#ended.abort();
    for (const { timer } of this.#waiting.values()) timer[Symbol.dispose]();
    this.#waiting.clear();
  }

  #giveUp(id: string): void {
    const { data, error } = this.#waiting.get(id) ?? {};
    this.#waiting.delete(id);
    this.#options.onBroken("timed out waiting for streams");
    void error?.write(Buffer.from(`(request=${id}) timed out waiting for streams`));
    error?.end();
    data?.reset();
  }

  async #forward(data: SpdyStream, error: SpdyStream): Promise<void> {
    const port = Number(data.headers.get(portHeader));
    const { forward, failureText } = this.#options;
    try {
      await forward(port, { input: data.input, output: (chunk) => data.write(chunk), signal: this.#signal });
      data.end();
      // Bytes for a closed connection would otherwise fill their queue and stop the others.
      data.discardInput();
    } catch (thrown) {
      await error.write(Buffer.from(failureText(port, thrown as Error)));
      data.reset();
    }
    error.end();
  }
}

/** Old clients send no id. Their streams come in pairs, the one for errors first. */
function requestIdOf({ id, headers }: SpdyStream, type: "data" | "error"): string {
  return headers.get("requestid") ?? String(type === "error" ? id : id - 2);
}
