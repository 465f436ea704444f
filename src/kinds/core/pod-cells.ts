import { humanDuration } from "../../api/codec/table/human-duration.ts";
import { hasCondition } from "../../api/codec/table/cell-text.ts";
import { numberOf, objectOf, objectsOf, textOf } from "../../api/json-reading.ts";
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
  const spec = objectOf(pod["spec"]);
  const status = objectOf(pod["status"]);
  const sidecars = sidecarNames(spec);
  const summary = summarize(spec, status, sidecars);
  const podIps = objectsOf(status["podIPs"]);
  return {
    Ready: `${summary.ready}/${objectsOf(spec["containers"]).length + sidecars.size}`,
    Status: podStatusText(pod, status, summary.reason),
    Restarts: restartsText(summary, nowMs),
    IP: (podIps[0] && textOf(podIps[0]["ip"])) || "<none>",
    Node: textOf(spec["nodeName"]) || "<none>",
    "Nominated Node": textOf(status["nominatedNodeName"]) || "<none>",
    "Readiness Gates": readinessGatesText(spec, status),
  };
}

/** A pod that has ended marks its row, so that clients may fade it. */
export function podRowConditions(pod: JsonObject): JsonObject[] {
  const phase = textOf(objectOf(pod["status"])["phase"]);
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
  const gated = objectsOf(status["conditions"]).some(
    (condition) => textOf(condition["type"]) === "PodScheduled" && textOf(condition["reason"]) === "SchedulingGated",
  );
  return gated ? "SchedulingGated" : textOf(status["reason"]) || textOf(status["phase"]);
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
  const total = objectsOf(spec["initContainers"]).length;
  const summary: InitSummary = {
    reason: undefined,
    ready: 0,
    restarts: 0,
    lastRestartMs: Number.NaN,
    sidecarRestarts: 0,
    sidecarLastRestartMs: Number.NaN,
  };
  for (const [at, container] of objectsOf(status["initContainerStatuses"]).entries()) {
    const sidecar = sidecars.has(textOf(container["name"]));
    summary.restarts += numberOf(container["restartCount"]);
    summary.lastRestartMs = newest(summary.lastRestartMs, lastEndMs(container));
    if (sidecar) {
      summary.sidecarRestarts += numberOf(container["restartCount"]);
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
  const state = objectOf(container["state"]);
  return state["terminated"] !== undefined && numberOf(objectOf(state["terminated"])["exitCode"]) === 0;
}

/** Undefined when the container simply has its turn still to come, or runs. */
function initReason(container: JsonObject): string | undefined {
  const state = objectOf(container["state"]);
  if (state["terminated"] !== undefined) return terminatedReason(objectOf(state["terminated"]));
  const waiting = textOf(objectOf(state["waiting"])["reason"]);
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
  for (const container of objectsOf(status["containerStatuses"]).reverse()) {
    const state = objectOf(container["state"]);
    const waiting = textOf(objectOf(state["waiting"])["reason"]);
    summary.restarts += numberOf(container["restartCount"]);
    summary.lastRestartMs = newest(summary.lastRestartMs, lastEndMs(container));
    if (waiting !== "") summary.reason = waiting;
    else if (state["terminated"] !== undefined) summary.reason = terminatedReason(objectOf(state["terminated"]));
    else if (container["ready"] === true && state["running"] !== undefined) {
      summary.running = true;
      summary.ready++;
    }
  }
  return summary;
}

function terminatedReason(terminated: JsonObject): string {
  const reason = textOf(terminated["reason"]);
  if (reason !== "") return reason;
  const signal = numberOf(terminated["signal"]);
  return signal === 0 ? `ExitCode:${numberOf(terminated["exitCode"])}` : `Signal:${signal}`;
}

function completedOrRunning(reason: string, running: boolean, status: JsonObject): string {
  if (reason !== "Completed" || !running) return reason;
  return hasCondition(status, "Ready") ? "Running" : "NotReady";
}

function podStatusText(pod: JsonObject, status: JsonObject, reason: string): string {
  if (objectOf(pod["metadata"])["deletionTimestamp"] === undefined) return reason;
  if (textOf(status["reason"]) === "NodeLost") return "Unknown";
  const phase = textOf(status["phase"]);
  return phase === "Succeeded" || phase === "Failed" ? reason : "Terminating";
}

function restartsText({ restarts, lastRestartMs }: Summary, nowMs: number): string {
  if (restarts === 0 || Number.isNaN(lastRestartMs)) return String(restarts);
  return `${restarts} (${humanDuration(nowMs - lastRestartMs)} ago)`;
}

function readinessGatesText(spec: JsonObject, status: JsonObject): string {
  const gates = objectsOf(spec["readinessGates"]);
  if (gates.length === 0) return "<none>";
  const met = gates.filter((gate) => hasCondition(status, textOf(gate["conditionType"])));
  return `${met.length}/${gates.length}`;
}

/** Init containers that keep running beside the others. */
function sidecarNames(spec: JsonObject): Set<string> {
  const sidecars = objectsOf(spec["initContainers"]).filter(
    (container) => textOf(container["restartPolicy"]) === "Always",
  );
  return new Set(sidecars.map((container) => textOf(container["name"])));
}

function lastEndMs(container: JsonObject): number {
  return Date.parse(textOf(objectOf(objectOf(container["lastState"])["terminated"])["finishedAt"]));
}

function newest(a: number, b: number): number {
  return Number.isNaN(a) || b > a ? b : a;
}
