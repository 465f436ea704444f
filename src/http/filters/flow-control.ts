import { status } from "../../api/status.ts";
import type { Clock } from "../../process/clock.ts";
import type { Exchange, Filter, Handler, HttpResponse, Reply, StreamReply } from "../../request/exchange.ts";
import type { ResourceRequest } from "../../request/request-info.ts";
import { Deadlines } from "../deadlines.ts";
import type { FlowControl, Passage } from "../flow-control/flow-control.ts";
import type { WatchCounts } from "../flow-control/watch-counts.ts";
import { startsWithState } from "../flow-control/work-estimate.ts";
import { isLongRunning } from "../long-running.ts";

export interface FlowControlParts {
  readonly clock: Clock;
  readonly control: FlowControl;
  readonly watches: WatchCounts;
  /** Deadline of requests that have one, in milliseconds. */
  readonly requestTimeoutMs: number;
}

/** The part of its time that a request may spend waiting for seats. */
const waitingPart = 1 / 4;
const waitMsMax = 60_000;

/**
 * Lets each request wait until its priority level has seats for it, or answers 429. Watches count until they have sent
 * their initial events. Other long-running requests do not count.
 */
export function flowControl(parts: FlowControlParts): Filter {
  const { control } = parts;
  const deadlines = new Deadlines(parts.clock);
  return (next) => {
    const serve: Serve = (exchange, passage) => serveWith(next, exchange, passage, parts, deadlines);
    return (exchange) => {
      const { info, user } = exchange;
      if (isLongRunning(info) && info.verb !== "watch") return next(exchange);
      const flow = control.classify(user, info);
      exchange.responseHeaders.push(
        ["x-kubernetes-pf-flowschema-uid", flow.schema.metadata.uid ?? ""],
        ["x-kubernetes-pf-prioritylevel-uid", flow.level.uid],
      );
      const admission = control.admit(flow);
      switch (admission.kind) {
        case "started":
          return serve(exchange, admission.passage);
        case "waiting":
          return serveInTurn(exchange, admission.passage, serve, parts, deadlines);
        case "refused":
          throw overloaded(exchange, admission.retryAfterSeconds);
      }
    };
  };
}

type Serve = (exchange: Exchange, passage: Passage) => HttpResponse | Promise<HttpResponse>;

/** Answers when the request may start, or has waited too long. */
function serveInTurn(
  exchange: Exchange,
  passage: Passage,
  serve: Serve,
  { clock, control, requestTimeoutMs }: FlowControlParts,
  deadlines: Deadlines,
): Promise<HttpResponse> {
  const arrivedMs = clock.steadyMs();
  const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>();
  const { request } = exchange;
  const timeMs = exchange.deadlineMs === undefined ? requestTimeoutMs : exchange.deadlineMs - exchange.startedMs;
  const onAbort = (reason: Error) => {
    stopWaiting();
    control.giveUp(passage, "cancelled");
    reject(reason);
  };
  const stopWaiting = () => {
    exchange.queuedMs = clock.steadyMs() - arrivedMs;
    deadlines.delete(deadline);
    request.onAbort = undefined;
  };
  const deadline = deadlines.add(Math.min(timeMs * waitingPart, waitMsMax), () => {
    stopWaiting();
    reject(overloaded(exchange, control.giveUp(passage, "time-out")));
  });
  request.onAbort = onAbort;
  control.whenStarted(passage, () => {
    stopWaiting();
    try {
      resolve(serve(exchange, passage));
    } catch (error) {
      reject(error as Error);
    }
  });
  return promise;
}

/** Runs a request that has its seats, and releases them when its work is done. */
function serveWith(
  next: Handler,
  exchange: Exchange,
  passage: Passage,
  parts: FlowControlParts,
  deadlines: Deadlines,
): HttpResponse | Promise<HttpResponse> {
  const { control } = parts;
  const finish = () => control.finish(passage);
  const { info } = exchange;
  const settle = (response: HttpResponse): HttpResponse => {
    if (response.kind === "stream" && info.kind === "resource") return countedWatch(response, info, parts, finish);
    if (response.kind === "reply" && isRead(response, exchange)) {
      return countedBody(response, exchange, parts, deadlines, finish);
    }
    finish();
    return response;
  };
  if (info.verb === "watch") exchange.onStateSent = finish;
  try {
    const response = control.run(passage, next, exchange);
    if (!(response instanceof Promise)) return settle(response);
    return response.then(settle, (error: unknown) => {
      finish();
      throw error;
    });
  } catch (error) {
    finish();
    throw error;
  }
}

/** A watch keeps its seats while it sends its initial events. It counts as a watch of its resource until it ends. */
function countedWatch(
  response: StreamReply,
  info: ResourceRequest,
  { watches }: FlowControlParts,
  finish: () => void,
): StreamReply {
  if (!startsWithState(info)) finish();
  return {
    ...response,
    async run(sink) {
      using _counted = watches.add(info);
      try {
        await response.run(sink);
      } finally {
        finish();
      }
    },
  };
}

/** Reports whether the body is made while it is written. Otherwise it is complete, or nobody reads it. */
function isRead({ body }: Reply, { request }: Exchange): boolean {
  return !(body instanceof Uint8Array) && !Array.isArray(body) && request.method !== "HEAD" && !request.isAborted;
}

/** Keeps the seats of a request while its body is made, but not beyond its deadline. */
function countedBody(
  response: Reply,
  { request, deadlineMs }: Exchange,
  { clock, requestTimeoutMs }: FlowControlParts,
  deadlines: Deadlines,
  finish: () => void,
): Reply {
  const leftMs = deadlineMs === undefined ? requestTimeoutMs : deadlineMs - clock.steadyMs();
  const deadline = deadlines.add(leftMs, finish);
  const done = () => {
    deadlines.delete(deadline);
    request.signal.removeEventListener("abort", done);
    finish();
  };
  // If the client disconnects before the first byte, nobody reads the body.
  request.signal.addEventListener("abort", done);
  return withBodyEnd(response, done);
}

function overloaded(exchange: Exchange, retryAfterSeconds: number): Error {
  exchange.isTerminated = true;
  return status.overloaded(retryAfterSeconds);
}

/** Calls `done` when the body has been read to its end or abandoned. */
function withBodyEnd(reply: Reply, done: () => void): Reply {
  const body = reply.body as AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  return { ...reply, body: Symbol.asyncIterator in body ? untilEnd(body, done) : untilEndSync(body, done) };
}

async function* untilEnd(body: AsyncIterable<Uint8Array>, done: () => void): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } finally {
    done();
  }
}

function* untilEndSync(body: Iterable<Uint8Array>, done: () => void): Generator<Uint8Array> {
  try {
    yield* body;
  } finally {
    done();
  }
}
