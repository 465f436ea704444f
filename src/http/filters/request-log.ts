import type { Clock } from "../../api/clock.ts";
import type { RequestRecord } from "../../observability/logs.ts";
import { type Filter, header } from "../exchange.ts";
import type { RequestInfo } from "../request-info.ts";
import { whenComplete } from "../with-headers.ts";

const userAgentCharactersMax = 256;

/** Reports every request when its response is ready; a streamed one when the stream ends. */
export function requestLog(clock: Clock, onRequest: (record: RequestRecord) => void): Filter {
  return (next) => async (exchange) => {
    const response = await next(exchange);
    return whenComplete(response, () => {
      const { request, info, user, auditId, receivedMs } = exchange;
      onRequest({
        auditId,
        method: request.method,
        path: info.path,
        verb: info.verb,
        ...target(info),
        user: user.name,
        remoteAddress: request.remoteAddress,
        userAgent: (header(request, "user-agent") ?? "").slice(0, userAgentCharactersMax),
        httpVersion: request.httpVersion,
        code: response.code,
        latencyMs: clock.nowMs() - receivedMs,
      });
    });
  };
}

function target(info: RequestInfo): { resource: string; namespace: string; name: string } {
  if (info.kind === "nonResource") return { resource: "", namespace: "", name: "" };
  const group = info.group === "" ? "" : `.${info.group}`;
  const subresource = info.subresource === "" ? "" : `/${info.subresource}`;
  return { resource: `${info.resource}${group}${subresource}`, namespace: info.namespace, name: info.name };
}
