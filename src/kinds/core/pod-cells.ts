import { hasCondition } from "../../api/codec/table/cell-text.ts";
import type { RowTime } from "../../api/codec/table/row-time.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";
import type { ContainerStateTerminated, ContainerStatus, Pod, PodSpec, PodStatus } from "../../api/types/core-v1.ts";

/** The state of all containers of a pod, as the STATUS, READY and RESTARTS columns show it. */
interface Summary {
  readonly reason: string;
  readonly ready: number;
  readonly restarts: number;
  /** Latest end of a container that was started again; NaN if unknown. */
  readonly lastRestartMs: number;
}

export function podCells(pod: Pod, time: RowTime): Cells {
  const { spec = { containers: null }, status = {} } = pod;
  const sidecars = sidecarNames(spec);
  const summary = summarize(spec, status, sidecars);
  return {
    Ready: `${summary.ready}/${(spec.containers ?? []).length + sidecars.size}`,
    Status: podStatusText(pod, summary.reason),
    Restarts: restartsText(summary, time),
    IP: status.podIPs?.[0]?.ip || "<none>",
    Node: spec.nodeName || "<none>",
    "Nominated Node": status.nominatedNodeName || "<none>",
    "Readiness Gates": readinessGatesText(spec, status),
  };
}

/** Returns the condition that marks the row of a pod that has ended, so that clients may dim it. */
export function podRowConditions({ status = {} }: Pod): JsonObject[] {
  const { phase } = status;
  if (phase !== "Succeeded" && phase !== "Failed") return [];
  const message = phase === "Succeeded" ? "The pod has completed successfully." : "The pod failed.";
  return [{ type: "Completed", status: "True", reason: phase, message }];
}

function summarize(spec: PodSpec, status: PodStatus, sidecars: ReadonlySet<string>): Summary {
  const init = summarizeInit(spec, status, sidecars);
  if (init.reason !== undefined && !hasCondition(status, "Initialized")) {
    return { reason: init.reason, ready: init.ready, restarts: init.restarts, lastRestartMs: init.lastRestartMs };
  }
  const main = summarizeContainers(init.reason ?? initialReason(status), status);
  return {
    reason: completedOrRunning(main.reason, main.running, status),
    ready: init.ready + main.ready,
    restarts: init.sidecarRestarts + main.restarts,
    lastRestartMs: later(init.sidecarLastRestartMs, main.lastRestartMs),
  };
}

function initialReason({ conditions = [], reason, phase = "" }: PodStatus): string {
  const gated = conditions.some(
    (condition) => condition.type === "PodScheduled" && condition.reason === "SchedulingGated",
  );
  return gated ? "SchedulingGated" : reason || phase;
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

/** Summarizes the init containers in order, up to the first that is not done. */
function summarizeInit(
  { initContainers = [] }: PodSpec,
  { initContainerStatuses = [] }: PodStatus,
  sidecars: ReadonlySet<string>,
): InitSummary {
  const summary: InitSummary = {
    reason: undefined,
    ready: 0,
    restarts: 0,
    lastRestartMs: Number.NaN,
    sidecarRestarts: 0,
    sidecarLastRestartMs: Number.NaN,
  };
  for (const [at, container] of initContainerStatuses.entries()) {
    const sidecar = sidecars.has(container.name);
    summary.restarts += container.restartCount;
    summary.lastRestartMs = later(summary.lastRestartMs, lastEndMs(container));
    if (sidecar) {
      summary.sidecarRestarts += container.restartCount;
      summary.sidecarLastRestartMs = later(summary.sidecarLastRestartMs, lastEndMs(container));
    }
    if (container.state?.terminated?.exitCode === 0) continue;
    if (sidecar && container.started === true) {
      if (container.ready) summary.ready++;
      continue;
    }
    summary.reason = `Init:${initReason(container) ?? `${at}/${initContainers.length}`}`;
    break;
  }
  return summary;
}

/** Returns undefined for a container that runs or has not had its turn. */
function initReason({ state = {} }: ContainerStatus): string | undefined {
  if (state.terminated !== undefined) return terminatedReason(state.terminated);
  const reason = state.waiting?.reason ?? "";
  return reason === "" || reason === "PodInitializing" ? undefined : reason;
}

interface MainSummary {
  reason: string;
  ready: number;
  running: boolean;
  restarts: number;
  lastRestartMs: number;
}

/** Summarizes the containers from the last to the first, so that the reason of the first one with a reason remains. */
function summarizeContainers(reason: string, { containerStatuses = [] }: PodStatus): MainSummary {
  const summary: MainSummary = { reason, ready: 0, running: false, restarts: 0, lastRestartMs: Number.NaN };
  for (const container of containerStatuses.toReversed()) {
    const { waiting, terminated, running } = container.state ?? {};
    summary.restarts += container.restartCount;
    summary.lastRestartMs = later(summary.lastRestartMs, lastEndMs(container));
    if (waiting?.reason) summary.reason = waiting.reason;
    else if (terminated !== undefined) summary.reason = terminatedReason(terminated);
    else if (container.ready && running !== undefined) {
      summary.running = true;
      summary.ready++;
    }
  }
  return summary;
}

function terminatedReason({ reason, signal = 0, exitCode }: ContainerStateTerminated): string {
  return reason || (signal === 0 ? `ExitCode:${exitCode}` : `Signal:${signal}`);
}

function completedOrRunning(reason: string, running: boolean, status: PodStatus): string {
  if (reason !== "Completed" || !running) return reason;
  return hasCondition(status, "Ready") ? "Running" : "NotReady";
}

function podStatusText({ metadata, status = {} }: Pod, reason: string): string {
  if (metadata.deletionTimestamp === undefined) return reason;
  if (status.reason === "NodeLost") return "Unknown";
  return status.phase === "Succeeded" || status.phase === "Failed" ? reason : "Terminating";
}

function restartsText({ restarts, lastRestartMs }: Summary, time: RowTime): string {
  if (restarts === 0 || Number.isNaN(lastRestartMs)) return String(restarts);
  return `${restarts} (${time.since(lastRestartMs)} ago)`;
}

function readinessGatesText({ readinessGates = [] }: PodSpec, status: PodStatus): string {
  if (readinessGates.length === 0) return "<none>";
  const met = readinessGates.filter(({ conditionType }) => hasCondition(status, conditionType));
  return `${met.length}/${readinessGates.length}`;
}

/** Returns the names of the init containers that keep running beside the others. */
function sidecarNames({ initContainers = [] }: PodSpec): Set<string> {
  return new Set(initContainers.filter(({ restartPolicy }) => restartPolicy === "Always").map(({ name }) => name));
}

function lastEndMs({ lastState }: ContainerStatus): number {
  return Date.parse(lastState?.terminated?.finishedAt ?? "");
}

function later(a: number, b: number): number {
  return Number.isNaN(a) || b > a ? b : a;
}
