import { parseDuration } from "../../api/go-duration.ts";
import { status, TextError } from "../../api/status.ts";
import type { Clock } from "../../process/clock.ts";
import type { Filter, HttpResponse } from "../../request/exchange.ts";
import { type Query, queryValue } from "../../request/request-info.ts";
import { Deadlines } from "../deadlines.ts";
import { isLongRunning } from "../long-running.ts";
import type { LateEnd } from "./request-metrics.ts";

export interface RequestDeadlineOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Called when a request ends after its deadline. */
  readonly onLate?: ((end: LateEnd) => void) | undefined;
}

/**
 * Answers 504 to a request that has no response within `timeoutMs` or a shorter `?timeout=`. Aborts `request.signal`
 * then. Long-running requests have no deadline.
 */
export function requestDeadline({ clock, timeoutMs, onLate }: RequestDeadlineOptions): Filter {
  const deadlines = new Deadlines(clock);
  return (next) => (exchange) => {
    if (isLongRunning(exchange.info)) return next(exchange);
    const limitMs = Math.min(timeoutMs, askedMs(exchange.info.query) ?? timeoutMs);
    exchange.deadlineMs = exchange.startedMs + limitMs;
    const response = next(exchange);
    if (!(response instanceof Promise)) return response;
    return new Promise<HttpResponse>((resolve, reject) => {
      const deadline = deadlines.add(limitMs, () => {
        const error = timeoutError();
        exchange.isTerminated = true;
        reject(error);
        exchange.request.abort?.(error);
        if (onLate !== undefined)
          response.then(
            () => onLate("ok"),
            () => onLate("error"),
          );
      });
      response.then(
        (value) => {
          deadlines.delete(deadline);
          resolve(value);
        },
        (error: unknown) => {
          deadlines.delete(deadline);
          reject(error);
        },
      );
    });
  };
}

function askedMs(query: Query): number | undefined {
  const text = queryValue(query, "timeout");
  if (text === "") return undefined;
  let nanoseconds: bigint;
  try {
    nanoseconds = parseDuration(text);
  } catch (error) {
    throw status.badRequest(`invalid timeout specified in the request URL - ${(error as Error).message}`);
  }
  return nanoseconds > 0n ? Number(nanoseconds) / 1e6 : undefined;
}

/** Upstream's answer without negotiation is a Status without its type, sent as text. */
function timeoutError(): TextError {
  const { status: value } = status.timeout("request did not complete within the allotted timeout");
  const { kind: _kind, apiVersion: _apiVersion, ...untyped } = value;
  return new TextError(504, `${JSON.stringify(untyped)}\n`);
}
