import type { RequestInfo } from "../request/request-info.ts";

const longRunningSubresources = new Set(["attach", "exec", "proxy", "log", "portforward"]);

/** Reports whether a request has no deadline and is outside the in-flight limits. */
export function isLongRunning(info: RequestInfo): boolean {
  if (info.kind === "nonResource") return info.path.startsWith("/debug/pprof/");
  return info.verb === "watch" || info.verb === "proxy" || longRunningSubresources.has(info.subresource);
}
