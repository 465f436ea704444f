import { formatGoDuration } from "../../api/go-duration.ts";
import type { Container } from "../../api/types/core-v1.ts";
import type { RuntimeContainer, RuntimeId, Sandbox } from "../runtime/runtime.ts";
import { containersOf, type PodContainer, podText } from "./pod-containers.ts";
import { isStarted, latestRun, type PodView, readySandbox, type Waiting } from "./pod-view.ts";
import { needsUpdate, restartsForUpdate } from "./resize.ts";
import { mustStart, restartsAfter, restartsWhenStopped } from "./restart-rules.ts";

/** Why a container is stopped. A probe may have a grace period of its own. */
export type StopCause = "startup" | "liveness" | "other";

export type PodAction =
  /** Stops the earlier sandbox, removes the runs of its init containers, and runs a new one. */
  | {
      readonly kind: "run-sandbox";
      readonly attempt: number;
      readonly replaced: Sandbox | undefined;
      readonly stale: readonly RuntimeId[];
    }
  | {
      readonly kind: "stop-container";
      readonly container: PodContainer;
      readonly run: RuntimeContainer;
      readonly message: string;
      readonly cause: StopCause;
      /** Whether it starts again whatever its exit code is. */
      readonly restarts: boolean;
    }
  | { readonly kind: "start-container"; readonly container: PodContainer; readonly attempt: number }
  | { readonly kind: "update-resources"; readonly container: PodContainer; readonly run: RuntimeContainer };

export interface PodPlan {
  /** Actions for now, in order. The caller may carry out the first few of them and ask again. */
  readonly actions: readonly PodAction[];
  /** Containers that are not started yet because they failed before, by name. */
  readonly delayed: ReadonlyMap<string, Waiting>;
  /** Whether all containers have ended for good. */
  readonly isDone: boolean;
}

/** Decides what brings a pod that is to run closer to its spec. */
export function planPod(view: PodView, steadyMs: number): PodPlan {
  const plan = new Planning(view, steadyMs);
  if (readySandbox(view) === undefined) plan.replaceSandbox();
  else plan.keepContainers();
  return plan;
}

class Planning implements PodPlan {
  readonly actions: PodAction[] = [];
  readonly delayed = new Map<string, Waiting>();
  isDone = false;
  readonly #view: PodView;
  readonly #steadyMs: number;
  readonly #containers: readonly PodContainer[];

  constructor(view: PodView, steadyMs: number) {
    this.#view = view;
    this.#steadyMs = steadyMs;
    this.#containers = containersOf(view.pod);
  }

  replaceSandbox(): void {
    const { sandboxes, containers, pod } = this.#view;
    const regular = this.#withRole("regular");
    const mayRestart = regular.some(({ spec }) => restartsWhenStopped(spec, pod));
    if (sandboxes.length > 0 && containers.length > 0 && !mayRestart) return this.#stopPod();
    const isInitialized = regular.some(({ spec }) => latestRun(this.#view, spec.name) !== undefined);
    // A container that ran when its sandbox ended is about to end too.
    const startsAgain = regular.some(({ spec }) => {
      const run = latestRun(this.#view, spec.name);
      return run?.state.kind === "running" || mustStart(spec, pod, run);
    });
    if (isInitialized && !startsAgain) return this.#stopPod();
    const init = new Set(this.#containers.filter(({ role }) => isInit(role)).map(({ spec }) => spec.name));
    const stale = containers.filter(({ name }) => init.has(name)).map(({ id }) => id);
    const [replaced] = sandboxes;
    const attempt = replaced === undefined ? 0 : replaced.attempt + 1;
    this.actions.push({ kind: "run-sandbox", attempt, replaced, stale });
  }

  keepContainers(): void {
    for (const container of this.#withRole("ephemeral")) {
      if (latestRun(this.#view, container.spec.name) === undefined) this.#start(container);
    }
    const progress = this.#keepInitContainers();
    if (progress === "failed") return this.#stopPod();
    if (progress === "running") return;
    const kept = this.#withRole("regular").map((container) => this.#keepContainer(container));
    if (!kept.includes(true)) this.#stopPod();
  }

  /** Starts the next init container, and restarts sidecars. */
  #keepInitContainers(): "failed" | "running" | "initialized" {
    const all = this.#containers.filter(({ role }) => isInit(role));
    if (all.length === 0) return "initialized";
    // The runs of init containers may have been removed since. Regular containers show that there were some.
    const wasInitialized = this.#withRole("regular").some(({ spec }) => {
      const kind = latestRun(this.#view, spec.name)?.state.kind;
      return kind === "running" || kind === "created";
    });
    const reached = all.findLastIndex(({ spec }) => latestRun(this.#view, spec.name) !== undefined);
    if (reached === -1 && !wasInitialized) {
      this.#start(all[0] as PodContainer);
      return "running";
    }
    for (const [at, container] of all.entries()) {
      if (at > reached && !wasInitialized) break;
      if (container.role === "sidecar") this.#keepSidecar(container);
    }
    if (wasInitialized) return "initialized";
    const outcome = this.#initOutcome(all[reached] as PodContainer);
    if (outcome !== "initialized" || reached === all.length - 1) return outcome;
    this.#start(all[reached + 1] as PodContainer);
    return "running";
  }

  #initOutcome(container: PodContainer): "failed" | "running" | "initialized" {
    const { spec } = container;
    const run = latestRun(this.#view, spec.name) as RuntimeContainer;
    if (container.role === "sidecar") return isStarted(this.#view, run) ? "initialized" : "running";
    if (run.state.kind === "running") return "running";
    if (run.state.kind === "exited" && run.state.exitCode === 0) return "initialized";
    if (run.state.kind === "exited" && !restartsAfter(spec, this.#view.pod, run.state.exitCode)) return "failed";
    if (run.state.kind === "unknown") {
      if (!restartsWhenStopped(spec, this.#view.pod)) return "failed";
      this.#stop(container, run, 'Init container is in "unknown" state, try killing it before restart');
    }
    this.#start(container);
    return "running";
  }

  #keepSidecar(container: PodContainer): void {
    const run = latestRun(this.#view, container.spec.name);
    if (run?.state.kind !== "running") {
      if (run?.state.kind === "unknown") {
        this.#stop(container, run, 'Init container is in "unknown" state, try killing it before restart');
      }
      this.#start(container);
      return;
    }
    this.#stopIfUnfit(container, run, "Init container");
  }

  /** Returns whether the container runs or is about to. */
  #keepContainer(container: PodContainer): boolean {
    const { pod, restarting } = this.#view;
    const { spec } = container;
    const run = latestRun(this.#view, spec.name);
    if (run?.state.kind === "running") {
      const stopped = this.#stopIfUnfit(container, run, "Container");
      return stopped !== "stopped";
    }
    const restarts = run !== undefined && restarting.has(run.id);
    if (!restarts && !mustStart(spec, pod, run)) return false;
    if (run?.state.kind === "unknown") {
      this.#stop(container, run, 'Container is in "unknown" state, try killing it before restart');
    }
    this.#start(container);
    return true;
  }

  /** Stops a running container whose definition has changed or whose probe failed, or gives it new resources. */
  #stopIfUnfit(container: PodContainer, run: RuntimeContainer, title: string): "kept" | "restarting" | "stopped" {
    const { spec } = container;
    const applied = this.#appliedTo(run);
    const isLasting = container.role === "sidecar" || restartsWhenStopped(spec, this.#view.pod);
    if (applied !== undefined && applied.image !== spec.image) {
      this.#stop(container, run, `${title} ${spec.name} definition changed, will be restarted`, "other", true);
      return "restarting";
    }
    for (const cause of ["liveness", "startup"] as const) {
      if (this.#view.probeResult(run, cause) !== "failure") continue;
      const ending = isLasting ? ", will be restarted" : "";
      this.#stop(container, run, `${title} ${spec.name} failed ${cause} probe${ending}`, cause, isLasting);
      return isLasting ? "restarting" : "stopped";
    }
    if (applied === undefined || this.#view.holdsResize || !needsUpdate(spec, applied)) return "kept";
    if (restartsForUpdate(spec, applied)) {
      this.#stop(container, run, `${title} ${spec.name} resize requires restart, will be restarted`, "other", true);
      return "restarting";
    }
    this.actions.push({ kind: "update-resources", container, run });
    return "kept";
  }

  #appliedTo({ id, name }: RuntimeContainer) {
    const applied = this.#view.applied.get(name);
    return applied?.containerId === id ? applied : undefined;
  }

  #stop(container: PodContainer, run: RuntimeContainer, message: string, cause: StopCause = "other", restarts = false) {
    this.actions.push({ kind: "stop-container", container, run, message, cause, restarts });
  }

  /** Starts a container unless it ended or failed too recently. */
  #start(container: PodContainer): void {
    const { spec } = container;
    const run = latestRun(this.#view, spec.name);
    const wait = this.#crashWait(run) ?? this.#view.waiting.get(spec.name);
    if (wait !== undefined && wait.retryAtMs > this.#steadyMs) {
      this.delayed.set(spec.name, wait);
      return;
    }
    this.actions.push({ kind: "start-container", container, attempt: this.#nextAttempt(spec, run) });
  }

  #crashWait(run: RuntimeContainer | undefined): Waiting | undefined {
    const delay = run === undefined ? undefined : this.#view.restartDelay(run);
    if (run === undefined || delay === undefined || delay.untilMs <= this.#steadyMs) return undefined;
    const message = `back-off ${formatGoDuration(BigInt(delay.delayMs) * 1_000_000n)} restarting failed container=${run.name} pod=${podText(this.#view.pod)}`;
    return { reason: "CrashLoopBackOff", message, retryAtMs: delay.untilMs };
  }

  #nextAttempt({ name }: Container, run: RuntimeContainer | undefined): number {
    if (run !== undefined) return run.attempt + 1;
    const { initContainerStatuses = [], containerStatuses = [] } = this.#view.old;
    const known = [...initContainerStatuses, ...containerStatuses].find((one) => one.name === name);
    return known?.containerID === undefined ? 0 : known.restartCount + 1;
  }

  /** Ends what still runs, and starts nothing. */
  #stopPod(): void {
    this.actions.length = 0;
    this.delayed.clear();
    this.isDone = true;
  }

  #withRole(role: PodContainer["role"]): readonly PodContainer[] {
    return this.#containers.filter((container) => container.role === role);
  }
}

function isInit(role: PodContainer["role"]): boolean {
  return role === "init" || role === "sidecar";
}
