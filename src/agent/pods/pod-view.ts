import type { Container, Pod, PodStatus } from "../../api/types/core-v1.ts";
import type { RuntimeContainer, RuntimeId, Sandbox } from "../runtime/runtime.ts";

export type ProbeKind = "startup" | "liveness" | "readiness";

/** Outcome of a probe once a threshold was reached; `unknown` before. */
export type ProbeResult = "success" | "failure" | "unknown";

/** A reason for which a container waits, as its status shows it. */
export interface Waiting {
  readonly reason: string;
  readonly message: string;
  /** Time of the next attempt to start the container, by the steady clock. */
  readonly retryAtMs: number;
}

export interface RestartDelay {
  readonly delayMs: number;
  /** Time at which it is over, by the steady clock. */
  readonly untilMs: number;
}

/** A resource request as it was when the container got it, and the image that the container was made from. */
export interface Applied {
  readonly containerId: RuntimeId;
  readonly image: string;
  readonly resources: Container["resources"];
}

/** Everything about a pod that decisions depend on, at one moment. */
export interface PodView {
  readonly pod: Pod;
  /** The agent's latest status of the pod, or the stored one. */
  readonly old: PodStatus;
  /** Newest first. */
  readonly sandboxes: readonly Sandbox[];
  /** The runs of all containers, oldest first. */
  readonly containers: readonly RuntimeContainer[];
  /** Containers that wait, by name. */
  readonly waiting: ReadonlyMap<string, Waiting>;
  /** Containers as they were made, by name. Those from before a restart of the agent may be absent. */
  readonly applied: ReadonlyMap<string, Applied>;
  /** Whether the node has no room for a change of the resources of running containers. */
  readonly holdsResize: boolean;
  /** Containers that the agent stopped to start them again. */
  readonly restarting: ReadonlySet<RuntimeId>;
  /** Returns the result for a run of a container; undefined if it has no such probe. */
  probeResult(run: RuntimeContainer, kind: ProbeKind): ProbeResult | undefined;
  /** Returns the delay between the end of a run and the restart of its container; undefined if there is none. */
  restartDelay(run: RuntimeContainer): RestartDelay | undefined;
}

/** Returns the latest run of a container. */
export function latestRun(view: Pick<PodView, "containers">, name: string): RuntimeContainer | undefined {
  return view.containers.findLast((run) => run.name === name);
}

/** Returns the sandbox in which containers can start. */
export function readySandbox({ sandboxes }: Pick<PodView, "sandboxes">): Sandbox | undefined {
  return sandboxes[0]?.isReady === true ? sandboxes[0] : undefined;
}

/** Reports whether a run has passed its startup probe, if it has one. */
export function isStarted(view: PodView, run: RuntimeContainer): boolean {
  if (run.state.kind !== "running") return false;
  return (view.probeResult(run, "startup") ?? "success") === "success";
}

export function isFinalPhase(phase: PodStatus["phase"]): boolean {
  return phase === "Succeeded" || phase === "Failed";
}
