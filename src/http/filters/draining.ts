import { status, TextError } from "../../api/status.ts";
import type { Filter } from "../../request/exchange.ts";
import type { RequestInfo } from "../../request/request-info.ts";
import type { Lifecycle } from "../lifecycle.ts";

const servedToTheEnd = ["/livez", "/readyz", "/healthz", "/metrics"];

/**
 * Directs new requests elsewhere when the server is stopping or was removed. Health and metrics are served to the end.
 */
export function draining(lifecycle: Lifecycle): Filter {
  return (next) => (exchange) => {
    const { phase } = lifecycle;
    if (phase === "serving" || phase === "leaving" || isServedToTheEnd(exchange.info)) return next(exchange);
    if (phase === "removed") {
      throw status.serviceUnavailable("this member was removed from the cluster: ask another member");
    }
    if (phase === "stopped") throw status.serviceUnavailable("apiserver is shutting down", 1);
    throw new TextError(429, "The apiserver is shutting down, please try again later.\n", [
      ["retry-after", "5"],
      ["connection", "close"],
    ]);
  };
}

function isServedToTheEnd({ kind, path }: RequestInfo): boolean {
  return kind === "nonResource" && servedToTheEnd.some((prefix) => path === prefix || path.startsWith(`${prefix}/`));
}
