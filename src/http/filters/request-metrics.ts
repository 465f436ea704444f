import type { RequestMetrics } from "../../observability/metrics.ts";
import type { Finish, HttpResponse } from "../exchange.ts";
import { isLongRunning } from "../long-running.ts";
import { whenComplete } from "../with-headers.ts";

/** Counts and times every request; long-running ones are a gauge while they run. */
export function requestMetrics(metrics: RequestMetrics): Finish {
  return (exchange, response) => {
    const observe = () => {
      const seconds = (performance.now() - exchange.startedMs) / 1000;
      metrics.observeRequest(exchange, { code: response.code, seconds, responseBytes: knownBytes(response) });
    };
    if (response.kind === "reply" || !isLongRunning(exchange.info)) return whenComplete(response, observe);
    metrics.longRunning(exchange, 1);
    return whenComplete(response, () => {
      metrics.longRunning(exchange, -1);
      observe();
    });
  };
}

function knownBytes(response: HttpResponse): number | undefined {
  if (response.kind === "stream") return undefined;
  const { body } = response;
  if (body instanceof Uint8Array) return body.byteLength;
  return Array.isArray(body) ? body.reduce((sum: number, chunk: Uint8Array) => sum + chunk.byteLength, 0) : undefined;
}
