import { TextError } from "../../api/status.ts";
import { textReply } from "../../http/error-response.ts";
import type { Eventual } from "../../process/eventual.ts";
import type { HttpResponse, Reply } from "../../request/exchange.ts";
import { checkpoint } from "./checkpoint.ts";
import type { EndpointOptions } from "./endpoint-options.ts";
import type { Health } from "./health.ts";
import { jsonReply } from "./json-reply.ts";
import { containerLog } from "./logs/container-log.ts";
import { hostLogs } from "./logs/host-logs.ts";
import { podList, runningPodList } from "./pod-lists.ts";
import type { Route, RouteCall } from "./route.ts";
import { SessionLimit } from "./session-limit.ts";
import { attach, exec, portForward, run } from "./sessions.ts";
import { healthMetrics, podMetrics, processMetrics, startTimeMetric } from "./stats/agent-metrics.ts";
import { exposition } from "./stats/exposition.ts";
import { probeMetrics } from "./stats/probe-metrics.ts";
import type { RequestCounts } from "./stats/request-counts.ts";
import { metricsReply, StatsHandlers } from "./stats/stats-handlers.ts";
import { zpages } from "./zpages.ts";

const streamingIdleTimeoutMsDefault = 4 * 60 * 60_000;
/** Sessions of exec, attach and port-forward that are open at the same time, as in a container runtime. */
const sessionsMax = 1_000;
const get = ["GET"];
const any = ["*"];
const getOrPost = ["GET", "POST"];
const post = ["POST"];

export type RouteOptions = Omit<EndpointOptions, "host" | "port" | "tls" | "access" | "limits">;

/** Returns the routes of the checks of this agent's health. */
export function healthRoutes(health: Health): Route[] {
  const handle = ({ target }: RouteCall) => health.answer(target);
  return [
    { path: "/healthz", methods: get, handle },
    { path: "/healthz/*", methods: get, handle },
  ];
}

/** Returns the routes that both the endpoint and the read-only port have. */
export function readOnlyRoutes(options: RouteOptions, health: Health, counts: RequestCounts): Route[] {
  const { directory, nodeStats, metrics } = options;
  const stats = new StatsHandlers(directory, nodeStats);
  const ownMetrics = ({ nodeName }: RouteCall) => {
    const families = [...counts.families(), ...podMetrics(directory, nodeName), ...processMetrics()];
    return metricsReply(exposition(families) + (metrics?.() ?? ""));
  };
  const ofProbes = ({ nodeName }: RouteCall) =>
    metricsReply(exposition([...probeMetrics(directory, nodeName), startTimeMetric()]));
  return [
    ...healthRoutes(health),
    { path: "/pods", methods: get, handle: ({ nodeName }) => podList(directory, nodeName) },
    { path: "/stats/summary", methods: getOrPost, handle: (call) => stats.summary(call) },
    { path: "/metrics", methods: any, handle: ownMetrics },
    { path: "/metrics/cadvisor", methods: any, handle: (call) => stats.containerMetrics(call) },
    { path: "/metrics/resource", methods: any, handle: (call) => stats.resourceMetrics(call) },
    { path: "/metrics/probes", methods: any, handle: ofProbes },
    { path: "/metrics/slis", methods: any, handle: () => metricsReply(exposition(healthMetrics(health))) },
  ];
}

/** Returns all routes of the endpoint. A part that is turned off answers 405, or 404 for a feature gate. */
export function endpointRoutes(options: RouteOptions, health: Health, counts: RequestCounts): Route[] {
  const { directory, switches = {}, rootDir, logsDir, clock, configuration } = options;
  const { enableDebuggingHandlers = true, enableSystemLogHandler = true, containerCheckpoint = true } = switches;
  const routes = readOnlyRoutes(options, health, counts);
  // As in kubelet, the configuration, checkpoints and pages go with them, and get a 404.
  if (!enableDebuggingHandlers) return [...routes, ...disabledRoutes()];
  const nowMs = () => clock.nowMs();
  routes.push({ path: "/configz", methods: get, handle: () => jsonReply({ kubeletconfig: configuration() }) });
  if (containerCheckpoint) {
    const handle = (call: RouteCall) => checkpoint({ directory, rootDir, nowMs }, call);
    routes.push({ path: "/checkpoint/{namespace}/{pod}/{container}", methods: post, handle });
  }
  if (enableSystemLogHandler) {
    const handle = (call: RouteCall) => hostLogs(logsDir, call);
    routes.push({ path: "/logs/*", methods: get, handle });
  } else routes.push(disabledRoute("logs", "logs endpoint is disabled."));
  routes.push(
    disabledRoute("debug/pprof", "profiling endpoint is disabled."),
    disabledRoute("debug/flags/v", "flags endpoint is disabled."),
  );
  return [...routes, ...debuggingRoutes(options), ...zpages(options)];
}

function debuggingRoutes({ directory, clock, log, streamingIdleTimeoutMs }: RouteOptions): Route[] {
  const parts = {
    directory,
    clock,
    idleTimeoutMs: streamingIdleTimeoutMs ?? streamingIdleTimeoutMsDefault,
    limit: new SessionLimit(sessionsMax),
    onBroken: (reason: string) => log.debug("A session was broken off.", { reason }),
  };
  const ofContainer = (
    root: string,
    methods: readonly string[],
    handle: (call: RouteCall) => Eventual<HttpResponse>,
  ) => [
    { path: `/${root}/{namespace}/{pod}/{container}`, methods, handle },
    { path: `/${root}/{namespace}/{pod}/{uid}/{container}`, methods, handle },
  ];
  const forward = (call: RouteCall) => portForward(parts, call);
  return [
    { path: "/runningpods", methods: get, handle: ({ nodeName }) => runningPodList(directory, nodeName) },
    {
      path: "/containerLogs/{namespace}/{pod}/{container}",
      methods: get,
      handle: (call) => containerLog(directory, clock, call),
    },
    ...ofContainer("exec", getOrPost, (call) => exec(parts, call)),
    ...ofContainer("attach", getOrPost, (call) => attach(parts, call)),
    ...ofContainer("run", post, (call) => run(parts, call)),
    { path: "/portForward/{namespace}/{pod}", methods: getOrPost, handle: forward },
    { path: "/portForward/{namespace}/{pod}/{uid}", methods: getOrPost, handle: forward },
  ];
}

const debuggingRoots = ["run", "exec", "attach", "portForward", "containerLogs", "runningpods", "debug/pprof", "logs"];

/** Returns the answers in place of the debugging routes where these are turned off. */
export function disabledRoutes(): Route[] {
  return debuggingRoots.map((root) => disabledRoute(root, "Debug endpoints are disabled."));
}

function disabledRoute(root: string, text: string): Route {
  const answer = (): Reply => textReply(405, `${text}\n`);
  return { path: `/${root}/*`, methods: any, handle: answer };
}

/** The answer to a path that is not served. */
export function unknownPath(): TextError {
  return new TextError(404, "404: Page Not Found");
}

/** The answer to a method that a path does not have. */
export function unknownMethod(): TextError {
  return new TextError(405, "405: Method Not Allowed");
}
