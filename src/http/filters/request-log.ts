import type { Clock } from "../../process/clock.ts";
import type { RequestOutcome, RequestRecord } from "../../process/logs.ts";
import { type Exchange, type Finish, header } from "../../request/exchange.ts";
import type { RequestInfo } from "../../request/request-info.ts";
import { isLongRunning } from "../long-running.ts";
import { whenComplete } from "../with-headers.ts";

const userAgentCharactersMax = 256;

/** Receives each finished request. Requests the record only if it writes one, because few requests are logged. */
export type OnRequest = (outcome: RequestOutcome, record: () => RequestRecord) => void;

/** Reports every request when its response is ready or its stream ends. */
export function requestLog(clock: Clock, onRequest: OnRequest): Finish {
  const report = (exchange: Exchange, code: number) => {
    const { info, startedMs, failed = false } = exchange;
    const outcome = { longRunning: isLongRunning(info), code, latencyMs: clock.steadyMs() - startedMs, failed };
    onRequest(outcome, () => recordOf(exchange, outcome));
  };
  return (exchange, response) => {
    if (response.kind === "stream") return whenComplete(response, () => report(exchange, response.code));
    report(exchange, response.code);
    return response;
  };
}

function recordOf({ request, info, user, auditId }: Exchange, { code, latencyMs }: RequestOutcome): RequestRecord {
  return {
    auditId,
    method: request.method,
    path: info.path,
    verb: info.verb,
    ...target(info),
    user: user.name,
    remoteAddress: request.remoteAddress,
    userAgent: (header(request, "user-agent") ?? "").slice(0, userAgentCharactersMax),
    httpVersion: request.httpVersion,
    code,
    latencyMs: Math.round(latencyMs),
  };
}

function target(info: RequestInfo): { resource: string; namespace: string; name: string } {
  if (info.kind === "nonResource") return { resource: "", namespace: "", name: "" };
  const group = info.group === "" ? "" : `.${info.group}`;
  const subresource = info.subresource === "" ? "" : `/${info.subresource}`;
  return { resource: `${info.resource}${group}${subresource}`, namespace: info.namespace, name: info.name };
}
