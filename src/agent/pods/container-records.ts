import type { Pod } from "../../api/types/core-v1.ts";
import type { Clock } from "../../process/clock.ts";
import type { RuntimeContainer, RuntimeId } from "../runtime/runtime.ts";
import { CrashBackoff } from "./crash-backoff.ts";
import { containersOf, type PodContainer } from "./pod-containers.ts";
import { type Applied, latestRun, type PodView, type RestartDelay, type Waiting } from "./pod-view.ts";
import { steadyTime } from "./steady-time.ts";

/** The part of the view of a pod that the agent itself remembers of its containers. */
export class ContainerRecords implements Pick<PodView, "waiting" | "applied" | "restarting" | "restartDelay"> {
  readonly #clock: Clock;
  readonly #crashes = new CrashBackoff();
  /** The ends of the latest runs by the steady clock, by the names of the containers. */
  readonly #ends = new Map<string, { readonly containerId: RuntimeId; readonly atMs: number }>();
  readonly waiting = new Map<string, Waiting>();
  readonly applied = new Map<string, Applied>();
  readonly restarting = new Set<RuntimeId>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  restartDelay = (run: RuntimeContainer): RestartDelay | undefined => {
    const endMs = this.#endMs(run);
    const delayMs = endMs === undefined ? 0 : this.#crashes.delayMs(run.name, endMs);
    return endMs === undefined || delayMs === 0 ? undefined : { delayMs, untilMs: endMs + delayMs };
  };

  /** Notes that a container starts, after its latest run. */
  starting(latest: RuntimeContainer | undefined): void {
    const endMs = latest === undefined ? undefined : this.#endMs(latest);
    if (latest !== undefined && endMs !== undefined) this.#crashes.next(latest.name, endMs, this.#clock.steadyMs());
  }

  created(containerId: RuntimeId, { spec: { name, image = "", resources } }: PodContainer): void {
    this.applied.set(name, { containerId, image, resources });
  }

  /** Notes that a container waits. Returns whether that is news. */
  wait(name: string, waiting: Waiting): boolean {
    const known = this.waiting.get(name);
    if (known?.reason === waiting.reason && known.retryAtMs === waiting.retryAtMs) return false;
    this.waiting.set(name, waiting);
    return true;
  }

  /**
   * Forgets the records of containers that run again or are gone. Learns from the stored status how containers were made
   * that ran before the agent.
   */
  update(pod: Pod, containers: readonly RuntimeContainer[], runtimeType: string): void {
    for (const { spec } of containersOf(pod)) {
      const latest = latestRun({ containers }, spec.name);
      if (latest?.state.kind === "running") {
        this.waiting.delete(spec.name);
        if (this.applied.get(spec.name)?.containerId !== latest.id) this.#recover(pod, latest, spec.image, runtimeType);
      }
    }
    for (const id of this.restarting) {
      const run = containers.find((one) => one.id === id);
      const isLatest = run !== undefined && latestRun({ containers }, run.name) === run;
      if (!isLatest) this.restarting.delete(id);
    }
  }

  /** Returns the end of a run that has exited. The system's time may be set afterwards without moving it. */
  #endMs({ id, name, state }: RuntimeContainer): number | undefined {
    if (state.kind !== "exited") return undefined;
    const known = this.#ends.get(name);
    if (known?.containerId === id) return known.atMs;
    const atMs = steadyTime(this.#clock, state.finishedAtMs);
    this.#ends.set(name, { containerId: id, atMs });
    return atMs;
  }

  #recover({ status }: Pod, { id, name }: RuntimeContainer, image = "", runtimeType: string): void {
    const all = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
    const known = all.find((one) => one.containerID === `${runtimeType}://${id}`);
    if (known?.resources !== undefined) this.applied.set(name, { containerId: id, image, resources: known.resources });
  }
}
