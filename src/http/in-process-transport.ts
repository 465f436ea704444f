import { Readable } from "node:stream";
import { NoAnswerError, type Transport, type TransportAnswer, type TransportRequest } from "../client/transport.ts";
import { abortable } from "../process/abortable.ts";
import type { Clock } from "../process/clock.ts";
import type { Exchange, Handler, HttpResponse, IncomingRequest } from "../request/exchange.ts";
import type { UserInfo } from "../request/user-info.ts";
import { BodyPipe } from "./body-pipe.ts";
import { errorAnswers } from "./filters/errors.ts";
import { parseRequestInfo, unparsedRequest } from "./parse-request-info.ts";

export interface InProcessTransportParts {
  /** Answers every resource request. For limited users, it includes the authorization filter. */
  readonly handler: Handler;
  readonly user: UserInfo;
  readonly clock: Clock;
  /** Receives faults of the server, which clients see as a 500. */
  readonly onFault: (error: unknown) => void;
  /** Receives every answer. */
  readonly onAnswer?: ((exchange: Exchange, code: number, seconds: number) => void) | undefined;
}

/**
 * Passes requests to the handlers of this process. Rules and bytes are as on the network, but without connections,
 * authentication, limits and audit.
 */
export class InProcessTransport implements Transport {
  readonly #parts: InProcessTransportParts;
  readonly #errorAnswer: (error: unknown, exchange: Exchange) => HttpResponse;

  constructor(parts: InProcessTransportParts) {
    this.#parts = parts;
    this.#errorAnswer = errorAnswers({ onFault: parts.onFault });
  }

  async send(request: TransportRequest): Promise<TransportAnswer> {
    request.signal.throwIfAborted();
    const { handler, user, clock } = this.#parts;
    const exchange = exchangeOf(request, user, clock);
    let response: HttpResponse;
    try {
      exchange.info = parseRequestInfo(request.method, request.target);
      response = await abortable(handler(exchange), request.signal);
    } catch (error) {
      request.signal.throwIfAborted();
      response = this.#errorAnswer(error, exchange);
    }
    this.#parts.onAnswer?.(exchange, response.code, (clock.steadyMs() - exchange.startedMs) / 1_000);
    return answerOf(response, request.signal);
  }

  [Symbol.dispose](): void {}
}

function exchangeOf(
  { method, target, headers, body, signal }: TransportRequest,
  user: UserInfo,
  clock: Clock,
): Exchange {
  const request: IncomingRequest = {
    method,
    rawPath: target,
    headers: Object.entries(body === undefined ? headers : { ...headers, "content-length": String(body.byteLength) }),
    peer: { kind: "none" },
    remoteAddress: "",
    httpVersion: "2",
    body: () => Promise.resolve(body ?? new Uint8Array(0)),
    get bodyStream() {
      return body === undefined ? undefined : Readable.from([body]);
    },
    signal,
    get isAborted() {
      return signal.aborted;
    },
  };
  return {
    request,
    receivedMs: clock.nowMs(),
    startedMs: clock.steadyMs(),
    auditId: crypto.randomUUID(),
    info: unparsedRequest,
    user,
    warnings: [],
    responseHeaders: [],
    audit: undefined,
  };
}

function answerOf(response: HttpResponse, signal: AbortSignal): TransportAnswer {
  const { code, headers } = response;
  const retryAfter = headers.find(([name]) => name === "retry-after")?.[1];
  const head = { code, retryAfterSeconds: retryAfter === undefined ? undefined : Number(retryAfter) };
  if (response.kind === "stream") {
    const pipe = new BodyPipe(signal);
    return { ...head, body: pipe.read(response.run(pipe).catch(cutShort)) };
  }
  const { body } = response;
  return { ...head, body: body instanceof Uint8Array ? once(body) : chunksOf(body) };
}

/** @throws NoAnswerError, as over the network */
function cutShort(error: unknown): never {
  throw error instanceof NoAnswerError ? error : new NoAnswerError("the answer was cut short", { cause: error });
}

async function* once(body: Uint8Array): AsyncGenerator<Uint8Array, void> {
  yield body;
}

async function* chunksOf(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  yield* body;
}
