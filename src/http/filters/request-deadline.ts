import type { Clock } from "../../api/clock.ts";
import { status } from "../../api/status.ts";
import { parseGoDuration } from "../../codec/go-duration.ts";
import type { Filter } from "../exchange.ts";
import { isLongRunning } from "../long-running.ts";
import { type Query, queryValue } from "../request-info.ts";

/**
 * 504 for a request that has no response within `timeoutMs`, or the shorter time that `?timeout=` asks for.
 * The handler is told through `request.signal`. Long-running requests have no deadline.
 */
export function requestDeadline({ clock, timeoutMs }: { clock: Clock; timeoutMs: number }): Filter {
  return (next) => async (exchange) => {
    if (isLongRunning(exchange.info)) return next(exchange);
    const limitMs = Math.min(timeoutMs, askedMs(exchange.info.query) ?? timeoutMs);
    const { promise: expired, reject } = Promise.withResolvers<never>();
    const timer = clock.after(limitMs, () => {
      const error = status.timeout("request did not complete within the allotted timeout");
      reject(error);
      exchange.request.abort?.(error);
    });
    try {
      return await Promise.race([next(exchange), expired]);
    } finally {
      timer[Symbol.dispose]();
    }
  };
}

function askedMs(query: Query): number | undefined {
  const text = queryValue(query, "timeout");
  if (text === "") return undefined;
  const nanoseconds = parseGoDuration(text);
  if (nanoseconds === undefined) {
    throw status.badRequest(
      `invalid timeout specified in the request URL - time: invalid duration ${JSON.stringify(text)}`,
    );
  }
  return nanoseconds > 0n ? Number(nanoseconds) / 1e6 : undefined;
}
