import type { Clock } from "../../process/clock.ts";
import type { Exchange, Finish, HttpResponse } from "../../request/exchange.ts";
import { isLongRunning } from "../long-running.ts";
import { whenComplete } from "../with-headers.ts";
import type { RequestKind } from "./max-in-flight.ts";

export interface FinishedRequest {
  readonly code: number;
  readonly seconds: number;
  /** Size of the body; undefined if it is not known in advance. */
  readonly responseBytes: number | undefined;
}

/** Outcome of a request whose client no longer waited. */
export type LateEnd = "ok" | "error";

/** The measurements of the filters. */
export interface RequestMetrics {
  observeRequest(exchange: Exchange, finished: FinishedRequest): void;
  longRunning(exchange: Exchange, change: 1 | -1): void;
  inFlight(kind: RequestKind, running: number): void;
  /** Records the end of a request that continued after its deadline. */
  endedLate(end: LateEnd): void;
}

/** Counts and times every request. A gauge counts running long-running ones. */
export function requestMetrics(clock: Clock, metrics: RequestMetrics): Finish {
  const observe = (exchange: Exchange, response: HttpResponse) => {
    const seconds = (clock.steadyMs() - exchange.startedMs) / 1_000;
    metrics.observeRequest(exchange, { code: response.code, seconds, responseBytes: knownBytes(response) });
  };
  return (exchange, response) => {
    if (response.kind === "reply") {
      observe(exchange, response);
      return response;
    }
    if (!isLongRunning(exchange.info)) return whenComplete(response, () => observe(exchange, response));
    metrics.longRunning(exchange, 1);
    return whenComplete(response, () => {
      metrics.longRunning(exchange, -1);
      observe(exchange, response);
    });
  };
}

function knownBytes(response: HttpResponse): number | undefined {
  if (response.kind === "stream") return undefined;
  const { body } = response;
  if (body instanceof Uint8Array) return body.byteLength;
  return Array.isArray(body) ? body.reduce((sum: number, chunk: Uint8Array) => sum + chunk.byteLength, 0) : undefined;
}
