import { humanDuration } from "../../api/codec/table/human-duration.ts";
import { hasCondition, numberIn, structIn, structsIn, textIn } from "../../api/codec/table/reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";

/** The state of all containers of a pod, as the STATUS, READY and RESTARTS columns show it. */
interface Summary {
  readonly reason: string;
  readonly ready: number;
  readonly restarts: number;
  /** Newest end of a container that was started again; NaN when not known. */
  readonly lastRestartMs: number;
}

export function podCells(pod: JsonObject, nowMs: number): Cells {
  const spec = structIn(pod, "spec");
  const status = structIn(pod, "status");
  const sidecars = sidecarNames(spec);
  const summary = summarize(spec, status, sidecars);
  const podIps = structsIn(status, "podIPs");
  return {
    Ready: `${summary.ready}/${structsIn(spec, "containers").length + sidecars.size}`,
    Status: podStatusText(pod, status, summary.reason),
    Restarts: restartsText(summary, nowMs),
    IP: (podIps[0] && textIn(podIps[0], "ip")) || "<none>",
    Node: textIn(spec, "nodeName") || "<none>",
    "Nominated Node": textIn(status, "nominatedNodeName") || "<none>",
    "Readiness Gates": readinessGatesText(spec, status),
  };
}

/** A pod that has ended marks its row, so that clients may fade it. */
export function podRowConditions(pod: JsonObject): JsonObject[] {
  const phase = textIn(structIn(pod, "status"), "phase");
  if (phase !== "Succeeded" && phase !== "Failed") return [];
  const message = phase === "Succeeded" ? "The pod has completed successfully." : "The pod failed.";
  return [{ type: "Completed", status: "True", reason: phase, message }];
}

function summarize(spec: JsonObject, status: JsonObject, sidecars: ReadonlySet<string>): Summary {
  const initial = initialReason(status);
  const init = summarizeInit(spec, status, sidecars);
  if (init.reason !== undefined && !hasCondition(status, "Initialized")) {
    return { reason: init.reason, ready: init.ready, restarts: init.restarts, lastRestartMs: init.lastRestartMs };
  }
  const main = summarizeContainers(init.reason ?? initial, status);
  return {
    reason: completedOrRunning(main.reason, main.running, status),
    ready: init.ready + main.ready,
    restarts: init.sidecarRestarts + main.restarts,
    lastRestartMs: newest(init.sidecarLastRestartMs, main.lastRestartMs),
  };
}

function initialReason(status: JsonObject): string {
  const gated = structsIn(status, "conditions").some(
    (condition) => textIn(condition, "type") === "PodScheduled" && textIn(condition, "reason") === "SchedulingGated",
  );
  return gated ? "SchedulingGated" : textIn(status, "reason") || textIn(status, "phase");
}

interface InitSummary {
  /** Undefined once every init container is done. */
  reason: string | undefined;
  ready: number;
  restarts: number;
  lastRestartMs: number;
  sidecarRestarts: number;
  sidecarLastRestartMs: number;
}

/** Init containers in order, up to the first that holds the pod up. */
function summarizeInit(spec: JsonObject, status: JsonObject, sidecars: ReadonlySet<string>): InitSummary {
  const total = structsIn(spec, "initContainers").length;
  const summary: InitSummary = {
    reason: undefined,
    ready: 0,
    restarts: 0,
    lastRestartMs: Number.NaN,
    sidecarRestarts: 0,
    sidecarLastRestartMs: Number.NaN,
  };
  for (const [at, container] of structsIn(status, "initContainerStatuses").entries()) {
    const sidecar = sidecars.has(textIn(container, "name"));
    summary.restarts += numberIn(container, "restartCount");
    summary.lastRestartMs = newest(summary.lastRestartMs, lastEndMs(container));
    if (sidecar) {
      summary.sidecarRestarts += numberIn(container, "restartCount");
      summary.sidecarLastRestartMs = newest(summary.sidecarLastRestartMs, lastEndMs(container));
    }
    if (isDone(container)) continue;
    if (sidecar && container["started"] === true) {
      if (container["ready"] === true) summary.ready++;
      continue;
    }
    summary.reason = `Init:${initReason(container) ?? `${at}/${total}`}`;
    break;
  }
  return summary;
}

function isDone(container: JsonObject): boolean {
  const state = structIn(container, "state");
  return state["terminated"] !== undefined && numberIn(structIn(state, "terminated"), "exitCode") === 0;
}

/** Undefined when the container simply has its turn still to come, or runs. */
function initReason(container: JsonObject): string | undefined {
  const state = structIn(container, "state");
  if (state["terminated"] !== undefined) return terminatedReason(structIn(state, "terminated"));
  const waiting = textIn(structIn(state, "waiting"), "reason");
  return waiting === "" || waiting === "PodInitializing" ? undefined : waiting;
}

interface MainSummary {
  reason: string;
  ready: number;
  running: boolean;
  restarts: number;
  lastRestartMs: number;
}

/** From the last container to the first, so that the first one with something to say has the last word. */
function summarizeContainers(reason: string, status: JsonObject): MainSummary {
  const summary: MainSummary = { reason, ready: 0, running: false, restarts: 0, lastRestartMs: Number.NaN };
  for (const container of structsIn(status, "containerStatuses").reverse()) {
    const state = structIn(container, "state");
    const waiting = textIn(structIn(state, "waiting"), "reason");
    summary.restarts += numberIn(container, "restartCount");
    summary.lastRestartMs = newest(summary.lastRestartMs, lastEndMs(container));
    if (waiting !== "") summary.reason = waiting;
    else if (state["terminated"] !== undefined) summary.reason = terminatedReason(structIn(state, "terminated"));
    else if (container["ready"] === true && state["running"] !== undefined) {
      summary.running = true;
      summary.ready++;
    }
  }
  return summary;
}

function terminatedReason(terminated: JsonObject): string {
  const reason = textIn(terminated, "reason");
  if (reason !== "") return reason;
  const signal = numberIn(terminated, "signal");
  return signal === 0 ? `ExitCode:${numberIn(terminated, "exitCode")}` : `Signal:${signal}`;
}

function completedOrRunning(reason: string, running: boolean, status: JsonObject): string {
  if (reason !== "Completed" || !running) return reason;
  return hasCondition(status, "Ready") ? "Running" : "NotReady";
}

function podStatusText(pod: JsonObject, status: JsonObject, reason: string): string {
  if (structIn(pod, "metadata")["deletionTimestamp"] === undefined) return reason;
  if (textIn(status, "reason") === "NodeLost") return "Unknown";
  const phase = textIn(status, "phase");
  return phase === "Succeeded" || phase === "Failed" ? reason : "Terminating";
}

function restartsText({ restarts, lastRestartMs }: Summary, nowMs: number): string {
  if (restarts === 0 || Number.isNaN(lastRestartMs)) return String(restarts);
  return `${restarts} (${humanDuration(nowMs - lastRestartMs)} ago)`;
}

function readinessGatesText(spec: JsonObject, status: JsonObject): string {
  const gates = structsIn(spec, "readinessGates");
  if (gates.length === 0) return "<none>";
  const met = gates.filter((gate) => hasCondition(status, textIn(gate, "conditionType")));
  return `${met.length}/${gates.length}`;
}

/** Init containers that keep running beside the others. */
function sidecarNames(spec: JsonObject): Set<string> {
  const sidecars = structsIn(spec, "initContainers").filter(
    (container) => textIn(container, "restartPolicy") === "Always",
  );
  return new Set(sidecars.map((container) => textIn(container, "name")));
}

function lastEndMs(container: JsonObject): number {
  return Date.parse(textIn(structIn(structIn(container, "lastState"), "terminated"), "finishedAt"));
}

function newest(a: number, b: number): number {
  return Number.isNaN(a) || b > a ? b : a;
}
