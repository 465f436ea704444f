import { systemMastersGroup } from "../../access/authorization/system-masters.ts";
import { status } from "../../api/status.ts";
import type { Filter } from "../../request/exchange.ts";
import type { RequestInfo } from "../../request/request-info.ts";
import { isLongRunning } from "../long-running.ts";

const maxReadOnlyInFlightDefault = 400;
const maxMutatingInFlightDefault = 200;

export type RequestKind = "readOnly" | "mutating";

export interface MaxInFlightOptions {
  /** 0 for no limit. */
  readonly readOnly?: number | undefined;
  /** 0 for no limit. */
  readonly mutating?: number | undefined;
  readonly onChange?: ((kind: RequestKind, running: number) => void) | undefined;
}

const readOnlyVerbs = new Set(["get", "list", "watch", "head", "options"]);

/** Returns the kind of request for counting. */
export function requestKind(info: RequestInfo): RequestKind {
  return readOnlyVerbs.has(info.verb) ? "readOnly" : "mutating";
}

/**
 * Answers 429 above a number of concurrent requests. Long-running requests do not count, and `system:masters` is exempt.
 */
export function maxInFlight(options: MaxInFlightOptions = {}): Filter {
  const limits: Record<RequestKind, number> = {
    readOnly: options.readOnly ?? maxReadOnlyInFlightDefault,
    mutating: options.mutating ?? maxMutatingInFlightDefault,
  };
  const running: Record<RequestKind, number> = { readOnly: 0, mutating: 0 };
  const change = (kind: RequestKind, by: number) => {
    running[kind] += by;
    options.onChange?.(kind, running[kind]);
  };
  return (next) => (exchange) => {
    if (isLongRunning(exchange.info)) return next(exchange);
    const kind = requestKind(exchange.info);
    const full = limits[kind] > 0 && running[kind] >= limits[kind];
    if (full && !exchange.user.groups.includes(systemMastersGroup)) {
      exchange.isTerminated = true;
      throw status.overloaded();
    }
    const leave = () => change(kind, -1);
    change(kind, 1);
    let response: ReturnType<typeof next>;
    try {
      response = next(exchange);
    } catch (error) {
      leave();
      throw error;
    }
    // The answer does not wait for the count to be updated.
    if (response instanceof Promise) response.then(leave, leave);
    else leave();
    return response;
  };
}
