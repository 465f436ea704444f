import type { Container, ContainerStatus, Pod, Probe } from "../../../api/types/core-v1.ts";
import type { Clock } from "../../../process/clock.ts";
import { thrownText } from "../../../process/thrown-text.ts";
import type { Runtime, RuntimeContainer } from "../../runtime/runtime.ts";
import { containersOf, type PodContainer } from "../pod-containers.ts";
import type { RecordPodEvent } from "../pod-recorder.ts";
import { latestRun, type ProbeKind, type ProbeResult } from "../pod-view.ts";
import { steadyTime } from "../steady-time.ts";
import { ProbeCount } from "./probe-count.ts";
import type { ProbeOutcome } from "./probe-outcome.ts";
import { afterOutcome, newProbeState, nextProbeMs, type ProbeState } from "./probe-state.ts";
import { type ProbeRequest, runProbe } from "./run-probe.ts";

const kinds = ["startup", "liveness", "readiness"] as const;
const titles = { startup: "Startup", liveness: "Liveness", readiness: "Readiness" } as const;
/** Attempts at a probe that cannot be carried out. */
const attemptsMax = 3;

export interface PodProbesParts {
  readonly runtime: Pick<Runtime, "exec" | "probe">;
  readonly clock: Clock;
  readonly record: RecordPodEvent;
}

export interface PodProbesEvents {
  /** Called when the result of a probe has changed. */
  readonly changed: () => void;
  /** Called when probes may be due at another time than before. */
  readonly planned: () => void;
}

/** A probe whose time has come, of a run of a container. */
interface DueProbe extends Omit<ProbeRequest, "container"> {
  readonly pod: Pod;
  readonly key: string;
  readonly container: PodContainer;
}

/** The probes of the running containers of one pod. */
export class PodProbes {
  readonly #parts: PodProbesParts;
  readonly #events: PodProbesEvents;
  /** By container and kind. Only containers with probes have entries. */
  readonly #states = new Map<string, ProbeState>();
  /** By container and kind. Undefined before the first result, because most pods have no probes. */
  #counts: Map<string, ProbeCount> | undefined;
  /** Probes that are on their way. */
  readonly #running = new Set<string>();

  /** @param parts the parts that the pods of a node share */
  constructor(parts: PodProbesParts, events: PodProbesEvents) {
    this.#parts = parts;
    this.#events = events;
  }

  /**
   * Notes which runs there are. Runs that the stored status knows already keep its results, so that a restart of the
   * agent makes no container unready.
   */
  update(pod: Pod, runs: readonly RuntimeContainer[], runtimeType: string): void {
    for (const { spec } of containersOf(pod)) {
      for (const kind of kinds) {
        const probe = probeOf(spec, kind);
        if (probe === undefined) continue;
        const run = latestRun({ containers: runs }, spec.name);
        const key = keyOf(spec.name, kind);
        if (run?.state.kind !== "running") {
          this.#states.delete(key);
        } else if (this.#states.get(key)?.containerId !== run.id) {
          const known = knownResult(pod, spec.name, `${runtimeType}://${run.id}`, kind);
          const startedMs = steadyTime(this.#parts.clock, run.state.startedAtMs);
          this.#states.set(key, newProbeState(run.id, kind, probe, startedMs, known));
        }
      }
    }
  }

  get counts(): Iterable<ProbeCount> {
    return this.#counts?.values() ?? [];
  }

  result({ id, name }: RuntimeContainer, kind: ProbeKind): ProbeResult | undefined {
    const state = this.#states.get(keyOf(name, kind));
    return state?.containerId === id ? state.result : undefined;
  }

  /** Returns the time by the steady clock at which the next probe is due; undefined if there is none. */
  nextMs(pod: Pod): number | undefined {
    if (this.#states.size === 0) return undefined;
    let next: number | undefined;
    for (const { key, dueMs } of this.#due(pod)) {
      if (!this.#running.has(key) && (next === undefined || dueMs < next)) next = dueMs;
    }
    return next;
  }

  /** Starts the probes that are due. */
  runDue(pod: Pod, runs: readonly RuntimeContainer[], address: string | undefined): void {
    const steadyMs = this.#parts.clock.steadyMs();
    for (const { key, container, kind, probe, dueMs } of this.#due(pod)) {
      if (dueMs > steadyMs || this.#running.has(key)) continue;
      const state = this.#states.get(key) as ProbeState;
      const run = runs.find(({ id }) => id === state.containerId);
      if (run !== undefined) void this.#probe({ pod, key, container, kind, probe, run, address });
    }
  }

  /** Ends the probes that could stop a container, because its pod ends anyway. */
  *#due(pod: Pod) {
    const isEnding = pod.metadata.deletionTimestamp !== undefined;
    for (const container of containersOf(pod)) {
      const { spec } = container;
      const hasStarted = this.#states.get(keyOf(spec.name, "startup"))?.result ?? "success";
      for (const kind of kinds) {
        const key = keyOf(spec.name, kind);
        const dueMs = this.#states.get(key)?.dueMs;
        const probe = probeOf(spec, kind);
        if (dueMs === undefined || probe === undefined) continue;
        if (kind !== "startup" && hasStarted !== "success") continue;
        if (isEnding && kind !== "readiness") continue;
        yield { key, container, kind, probe, dueMs };
      }
    }
  }

  async #probe(one: DueProbe): Promise<void> {
    const { pod, key, container, kind, probe, run } = one;
    const { clock } = this.#parts;
    const { changed, planned } = this.#events;
    this.#running.add(key);
    const startedMs = clock.steadyMs();
    const outcome = await this.#outcome(one);
    this.#running.delete(key);
    const state = this.#states.get(key);
    if (state?.containerId !== run.id) return planned();
    if (outcome === undefined) {
      this.#states.set(key, { ...state, dueMs: nextProbeMs(probe, clock.steadyMs()) });
      return planned();
    }
    this.#report(pod, container, kind, outcome);
    const isSuccess = outcome.result !== "failure";
    this.#countOf(key, container.spec.name, kind).add(isSuccess, (clock.steadyMs() - startedMs) / 1_000);
    const next = afterOutcome(state, kind, probe, isSuccess ? "success" : "failure", clock.steadyMs());
    this.#states.set(key, next);
    if (next.result === state.result) planned();
    else changed();
  }

  #countOf(key: string, container: string, kind: ProbeKind): ProbeCount {
    this.#counts ??= new Map();
    let count = this.#counts.get(key);
    if (count === undefined) {
      count = new ProbeCount(container, kind);
      this.#counts.set(key, count);
    }
    return count;
  }

  async #outcome({ pod, container, ...request }: DueProbe): Promise<ProbeOutcome | undefined> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await runProbe(this.#parts.runtime, { ...request, container: container.spec });
      } catch (error) {
        if (attempt < attemptsMax) continue;
        const message = `${titles[request.kind]} probe errored and resulted in unknown state: ${thrownText(error)}`;
        this.#parts.record(pod, { type: "Warning", reason: "Unhealthy", message }, container);
        return undefined;
      }
    }
  }

  #report(pod: Pod, container: PodContainer, kind: ProbeKind, { result, output }: ProbeOutcome): void {
    if (result === "success") return;
    const isFailure = result === "failure";
    const reason = isFailure ? "Unhealthy" : "ProbeWarning";
    const message = `${titles[kind]} probe ${isFailure ? "failed" : "warning"}: ${output}`;
    this.#parts.record(pod, { type: "Warning", reason, message }, container);
  }
}

function probeOf(container: Container, kind: ProbeKind): Probe | undefined {
  switch (kind) {
    case "startup":
      return container.startupProbe;
    case "liveness":
      return container.livenessProbe;
    case "readiness":
      return container.readinessProbe;
  }
}

function knownResult(pod: Pod, name: string, containerID: string, kind: ProbeKind): ProbeResult | undefined {
  const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {};
  const isSame = (one: ContainerStatus) => one.name === name && one.containerID === containerID;
  const status = containerStatuses.find(isSame) ?? initContainerStatuses.find(isSame);
  if (kind === "startup") return status?.started === true ? "success" : undefined;
  if (kind === "readiness") return status?.ready === true ? "success" : undefined;
  return undefined;
}

function keyOf(name: string, kind: ProbeKind): string {
  return `${name}/${kind}`;
}
