import { formatTime } from "../../api/time.ts";
import type { Pod, PodStatus } from "../../api/types/core-v1.ts";
import { Backoff } from "../../client/backoff.ts";
import type { Clock } from "../../process/clock.ts";
import { thrownText } from "../../process/thrown-text.ts";
import type { Runtime, RuntimeContainer, RuntimeId } from "../runtime/runtime.ts";
import type { Rejection } from "./admit-pod.ts";
import { ContainerRecords } from "./container-records.ts";
import { FreshFiles } from "./fresh-files.ts";
import type { ImagePuller } from "./image-puller.ts";
import type { RunHook } from "./lifecycle-hook.ts";
import { type PodAction, planPod } from "./plan-pod.ts";
import { containersOf, type PodContainer, podText } from "./pod-containers.ts";
import type { PodFiles } from "./pod-files.ts";
import type { RecordPodEvent } from "./pod-recorder.ts";
import { isStaticPod } from "./pod-source.ts";
import { type Eviction, podStatus, type Verdict } from "./pod-status.ts";
import { isFinalPhase, latestRun, type PodView, readySandbox } from "./pod-view.ts";
import { PodProbes } from "./probes/pod-probes.ts";
import type { ProbeCount } from "./probes/probe-count.ts";
import { isResizing } from "./resize.ts";
import { ResizeProgress } from "./resize-progress.ts";
import type { RuntimePod, RuntimeView } from "./runtime-view.ts";
import type { Schedule, Scheduled } from "./schedule.ts";
import { startContainer } from "./start-container.ts";
import { StartError } from "./start-error.ts";
import type { StatusWriter } from "./status-writer.ts";
import { hurryPod, removePod, stopContainer, stopPod } from "./stop-pod.ts";
import { StoredPod } from "./stored-pod.ts";

const graceSecondsDefault = 30;
/** Wait before a container that failed to start is started again, without the jitter. */
const restartWaitMs = 10_000;
const retryMsMin = 500;
/** Wait before the next look at a network that is not ready, without the jitter. */
const networkRetryMs = 1_000;
const retryMsMax = 60_000;
/** Longest wait before a status is written again. Clients wait for it. */
const writeRetryMsMax = 10_000;
/** Longest wait before a deadline is compared again with the system's time, which may have been set. */
const deadlineCheckMsMax = 60_000;
/** Number of ended runs of a container that are kept for their logs, besides the latest one. */
const endedRunsKept = 1;

export interface PodWorkerParts {
  readonly runtime: Runtime;
  readonly runtimeType: string;
  readonly view: RuntimeView;
  readonly files: PodFiles;
  readonly images: ImagePuller;
  readonly clock: Clock;
  readonly schedule: Schedule;
  readonly writer: StatusWriter;
  readonly record: RecordPodEvent;
  readonly runHook: RunHook;
  readonly logDirectory: string;
  readonly hostIps: () => readonly string[];
  /** In [0, 1). */
  readonly random: () => number;
  readonly onError: (error: unknown) => void;
  /** Returns why the node has no room for a pod with its present requests. */
  readonly rejectionOf: (pod: Pod) => Rejection | undefined;
  /** Called when nothing is left of a pod. */
  readonly removed: (podUid: string) => void;
}

const deadlineExceeded: Verdict = {
  reason: "DeadlineExceeded",
  message: "Pod was active on the node longer than the specified deadline",
};

/** `ended`: no container runs, and none starts any more. */
type Stage = "running" | "stopping" | "ended";

/**
 * Brings one pod to its spec, and its status to the API. One turn at a time looks at everything again, decides, and
 * starts at most one piece of work, which wakes the worker when it is done.
 */
export class PodWorker implements Scheduled, Disposable {
  readonly #parts: PodWorkerParts;
  readonly #probes: PodProbes;
  readonly #records: ContainerRecords;
  readonly #resize: ResizeProgress;
  readonly #retry: Backoff;
  readonly #writeRetry: Backoff;
  readonly #api: StoredPod;
  readonly #files: FreshFiles;
  /** Containers that are being stopped although the pod goes on. */
  readonly #stops = new Set<RuntimeId>();
  #stage: Stage = "running";
  #verdict: Verdict | undefined;
  #evictionGraceSeconds: number | undefined;
  #rejection: Rejection | undefined;
  /** Whether the API object is gone. */
  #isGone = false;
  #isAwaited = false;
  #isWorking = false;
  #isRemoving = false;
  /** Whether nothing is left of the pod. */
  #isRemoved = false;
  /** The work that has been started. */
  #task: Promise<void> | undefined;
  /** Ends the start of a container. */
  #starting: AbortController | undefined;
  /** Time by the steady clock before which nothing new is started, because something failed. */
  #retryAtMs = 0;
  /** Time by the steady clock of the next turn, whatever happens until then. */
  #wakeAtMs = Number.POSITIVE_INFINITY;
  /** Grace period with which the pod is being stopped. */
  #graceSeconds = Number.POSITIVE_INFINITY;

  constructor(parts: PodWorkerParts, pod: Pod) {
    this.#parts = parts;
    this.#records = new ContainerRecords(parts.clock);
    this.#retry = new Backoff(retryMsMin, retryMsMax, parts.random);
    this.#writeRetry = new Backoff(retryMsMin, writeRetryMsMax, parts.random);
    this.#resize = new ResizeProgress(parts.record);
    this.#api = new StoredPod(parts, { stored: () => this.#stored(), failed: () => this.#failed() }, pod);
    this.#files = new FreshFiles(parts, () => this.#pod);
    this.#probes = new PodProbes(parts, { changed: () => this.wake(), planned: () => this.#schedule() });
  }

  /** The pod with the agent's view of its status. */
  get pod(): Pod {
    return this.#api.current;
  }

  /** Results of its probes. */
  get probeCounts(): Iterable<ProbeCount> {
    return this.#probes.counts;
  }

  /** Whether the pod holds resources of the node. */
  get isActive(): boolean {
    if (this.#stage === "running") return !isFinalPhase(this.#api.status.phase);
    return this.#stage === "stopping";
  }

  /** Takes a state of the API object. */
  update(pod: Pod): void {
    if (this.#api.update(pod)) this.wake();
  }

  /** Takes a state of the mirror of a static pod; undefined if it is gone. */
  setMirror(mirror: Pod | undefined): void {
    this.#api.setMirror(mirror);
    this.wake();
  }

  /** Refuses to run the pod. */
  reject(rejection: Rejection): void {
    this.#rejection = rejection;
    this.#stage = "ended";
    this.#parts.record(this.#pod, { type: "Warning", ...rejection });
    this.wake();
  }

  /** Ends the pod because the node is short of something. */
  evict({ message, graceSeconds, isDisruption }: Eviction): void {
    if (this.#stage === "ended") return;
    const condition = { type: "DisruptionTarget", status: "True", reason: "TerminationByKubelet", message };
    this.#verdict = { reason: "Evicted", message, conditions: isDisruption ? [condition] : [] };
    this.#evictionGraceSeconds = graceSeconds;
    this.wake();
  }

  /** Ends the pod because its API object is gone. */
  gone(last: Pod): void {
    this.#api.close(last);
    this.#isGone = true;
    this.wake();
  }

  /** Leaves the pod alone from now on. */
  [Symbol.dispose](): void {
    this.#isRemoved = true;
    this.#parts.schedule.clear(this);
  }

  wake(): void {
    if (this.#isRemoved) return;
    this.#isAwaited = true;
    if (!this.#isWorking) void this.#work();
  }

  due(): void {
    const steadyMs = this.#parts.clock.steadyMs();
    if (this.#stage !== "ended") this.#probes.runDue(this.#pod, this.#seen().containers, this.#address());
    if (this.#files.dueMs <= steadyMs && this.#stage === "running") void this.#files.prepare();
    if (this.#wakeAtMs <= steadyMs) this.wake();
    else this.#schedule();
  }

  async #work(): Promise<void> {
    this.#isWorking = true;
    while (this.#isAwaited) {
      this.#isAwaited = false;
      try {
        await this.#parts.view.refresh();
        this.#turn(this.#parts.clock.nowMs());
      } catch (error) {
        this.#parts.onError(error);
        this.#retryLater();
      }
      this.#schedule();
    }
    this.#isWorking = false;
  }

  #turn(nowMs: number): void {
    if (this.#isRemoved) return;
    this.#wakeAtMs = this.#isHeldBack ? this.#retryAtMs : Number.POSITIVE_INFINITY;
    this.#probes.update(this.#pod, this.#seen().containers, this.#parts.runtimeType);
    if (this.#stage === "running") {
      if (this.#mustEnd(nowMs)) this.#beginEnd();
      else this.#run(nowMs);
    }
    if (this.#stage === "stopping") this.#stop(nowMs);
    if (this.#stage === "ended") this.#finish(nowMs);
  }

  /** Reports whether the pod is to end, for whatever reason. */
  #mustEnd(nowMs: number): boolean {
    const { metadata, spec, status } = this.#pod;
    if (this.#isGone || metadata.deletionTimestamp !== undefined || isFinalPhase(status?.phase)) return true;
    if (this.#verdict !== undefined) return true;
    const { activeDeadlineSeconds } = spec ?? {};
    const { startTime } = this.#api.status;
    if (activeDeadlineSeconds === undefined || startTime === undefined) return false;
    const deadlineMs = Date.parse(startTime) + Number(activeDeadlineSeconds) * 1_000;
    if (nowMs < deadlineMs) {
      this.#wakeAfter(Math.min(deadlineMs - nowMs, deadlineCheckMsMax));
      return false;
    }
    this.#verdict = deadlineExceeded;
    this.#parts.record(this.#pod, { type: "Normal", ...deadlineExceeded });
    return true;
  }

  #run(nowMs: number): void {
    this.#records.update(this.#pod, this.#seen().containers, this.#parts.runtimeType);
    this.#resize.update(this.#pod, isResizing(this.#view()), () => this.#parts.rejectionOf(this.#pod));
    const view = this.#view();
    const steadyMs = this.#parts.clock.steadyMs();
    this.#publish(view, nowMs);
    // A pod that ran before the agent started has files, but nothing keeps them up to date yet.
    if (readySandbox(view) !== undefined && !this.#files.isPrepared) this.#files.setDue(steadyMs + retryMsMin);
    const plan = planPod(view, steadyMs);
    if (plan.isDone) return this.#beginEnd();
    const waiting = [...plan.delayed].filter(([name, one]) => this.#records.wait(name, one));
    for (const [name, { reason }] of waiting) if (reason === "CrashLoopBackOff") this.#recordBackOff(name);
    // The end of a container is shown before the wait for its restart.
    if (waiting.length > 0) this.#publish(view, nowMs);
    for (const { retryAtMs } of plan.delayed.values()) this.#wakeAt(retryAtMs);
    for (const action of plan.actions) this.#begin(action);
  }

  #beginEnd(): void {
    this.#stage = "stopping";
    this.#starting?.abort();
    // A failure to start does not delay the end.
    this.#retryAtMs = 0;
  }

  #begin(action: PodAction): void {
    if (action.kind === "stop-container") return this.#stopContainer(action);
    if (this.#task !== undefined || this.#isHeldBack) return;
    this.#startTask(() => this.#carryOut(action));
  }

  async #carryOut(action: Exclude<PodAction, { kind: "stop-container" }>): Promise<void> {
    switch (action.kind) {
      case "run-sandbox":
        return this.#runSandbox(action);
      case "start-container":
        return this.#startContainer(action);
      case "update-resources":
        return this.#updateResources(action);
    }
  }

  async #runSandbox({ attempt, replaced, stale }: Extract<PodAction, { kind: "run-sandbox" }>): Promise<void> {
    const { runtime, record, random } = this.#parts;
    const pod = this.#pod;
    const { networkProblem } = runtime;
    if (networkProblem !== undefined && pod.spec?.hostNetwork !== true) {
      const message = `network is not ready: ${networkProblem}`;
      record(pod, { type: "Warning", reason: "NetworkNotReady", message });
      return this.#retryAfter(networkRetryMs * (1 + random() / 2));
    }
    if (replaced !== undefined) {
      const message = "Pod sandbox changed, it will be killed and re-created.";
      record(pod, { type: "Normal", reason: "SandboxChanged", message });
      await runtime.stopSandbox(replaced.id);
      for (const id of stale) await runtime.removeContainer(id);
    }
    if (!(await this.#files.prepare())) return this.#retryLater();
    try {
      await runtime.runSandbox(pod, attempt);
      this.#retry.reset();
    } catch (error) {
      const message = `Failed to create pod sandbox: ${thrownText(error)}`;
      record(pod, { type: "Warning", reason: "FailedCreatePodSandBox", message });
      this.#retryLater();
    }
  }

  async #startContainer(action: Extract<PodAction, { kind: "start-container" }>): Promise<void> {
    const { clock, random } = this.#parts;
    const { container, attempt } = action;
    const { name } = container.spec;
    const pod = this.#pod;
    const sandbox = readySandbox(this.#seen());
    if (sandbox === undefined) return;
    this.#starting = new AbortController();
    const { signal } = this.#starting;
    if (!this.#files.isPrepared && !(await this.#files.prepare())) return this.#retryLater();
    const { containers } = this.#seen();
    this.#records.starting(latestRun({ containers }, name));
    let isCreated = false;
    const created = (id: RuntimeId): void => {
      isCreated = true;
      this.#records.created(id, container);
    };
    const stop = (_: Pod, one: PodContainer, id: RuntimeId, message: string): Promise<void> =>
      stopContainer(this.#parts, { pod, container: one, id, message, graceSeconds: this.#graceOf() });
    try {
      const ips = this.#pod.spec?.hostNetwork === true ? this.#parts.hostIps() : sandbox.ips;
      await startContainer({ ...this.#parts, stop }, { pod, container, sandbox, attempt, ips, created, signal });
      this.#records.waiting.delete(name);
    } catch (error) {
      // The pod ends instead.
      if (signal.aborted) return;
      if (!(error instanceof StartError)) throw error;
      const retryAtMs = error.retryAtMs ?? clock.steadyMs() + restartWaitMs * (1 + random() / 2);
      this.#records.wait(name, { reason: error.reason, message: error.message, retryAtMs });
    } finally {
      this.#starting = undefined;
      if (isCreated) await this.#removeRuns(containers, name);
    }
  }

  async #updateResources({ container, run }: Extract<PodAction, { kind: "update-resources" }>): Promise<void> {
    try {
      await this.#parts.runtime.updateResources(run.id, container.spec.resources ?? {});
      this.#records.created(run.id, container);
    } catch (error) {
      this.#resize.failed(this.#pod, thrownText(error));
      this.#retryLater();
    }
  }

  #stopContainer({ container, run, message, cause, restarts }: Extract<PodAction, { kind: "stop-container" }>): void {
    if (this.#stops.has(run.id)) return;
    this.#stops.add(run.id);
    if (restarts) this.#records.restarting.add(run.id);
    const { livenessProbe, startupProbe } = container.spec;
    const probe = cause === "liveness" ? livenessProbe : cause === "startup" ? startupProbe : undefined;
    const graceSeconds = Number(probe?.terminationGracePeriodSeconds ?? this.#graceOf());
    void stopContainer(this.#parts, { pod: this.#pod, container, id: run.id, message, graceSeconds })
      .catch((error: unknown) => {
        this.#parts.onError(error);
        this.#retryLater();
      })
      .finally(() => {
        this.#stops.delete(run.id);
        this.wake();
      });
  }

  #stop(nowMs: number): void {
    this.#publish(this.#view(), nowMs);
    const graceSeconds = this.#graceOf();
    if (this.#graceSeconds !== Number.POSITIVE_INFINITY && graceSeconds < this.#graceSeconds) {
      this.#graceSeconds = graceSeconds;
      const { runtime, onError } = this.#parts;
      hurryPod(runtime, this.#seen(), graceSeconds).catch(onError);
    }
    if (this.#task !== undefined || this.#isHeldBack) return;
    this.#graceSeconds = graceSeconds;
    this.#startTask(() => this.#stopAll(graceSeconds));
  }

  async #stopAll(graceSeconds: number): Promise<void> {
    const { record, view } = this.#parts;
    try {
      await stopPod(this.#parts, this.#pod, this.#seen(), graceSeconds);
      await this.#files.remove();
      await view.refresh();
      this.#retry.reset();
      this.#stage = "ended";
    } catch (error) {
      const message = `error killing pod: ${thrownText(error)}`;
      record(this.#pod, { type: "Warning", reason: "FailedKillPod", message });
      this.#retryLater();
    }
  }

  /** Publishes the last status. Then removes the API object if it is being deleted, or what is left after it. */
  #finish(nowMs: number): void {
    if (this.#isGone) {
      if (this.#task === undefined && !this.#isHeldBack) this.#startTask(() => this.#removeAll());
      return;
    }
    this.#publish(this.#view(), nowMs);
    const { metadata, status } = this.#pod;
    const isStored = this.#api.isStored && isFinalPhase(status?.phase);
    if (isStaticPod(this.#pod) || metadata.deletionTimestamp === undefined || !isStored || this.#isRemoving) return;
    this.#isRemoving = true;
    this.#parts.writer
      .remove(this.#pod)
      .catch(() => {
        this.#isRemoving = false;
        this.#retryLater();
      })
      .finally(() => this.#schedule());
  }

  async #removeAll(): Promise<void> {
    const { runtime, images, removed, schedule } = this.#parts;
    schedule.clear(this);
    await removePod(runtime, this.#seen());
    images.forget(this.#uid);
    this.#isRemoved = true;
    removed(this.#uid);
  }

  /** Runs one piece of work, and looks at the pod again afterwards. */
  #startTask(run: () => Promise<void>): void {
    this.#task = run()
      .catch((error: unknown) => {
        this.#parts.onError(error);
        this.#retryLater();
      })
      .finally(() => {
        this.#task = undefined;
        this.wake();
      });
  }

  #publish(view: PodView, nowMs: number): void {
    const { hostIps, runtimeType } = this.#parts;
    const options = {
      runtimeType,
      hostIps: hostIps(),
      isFinished: this.#stage === "ended",
      verdict: this.#verdict,
      conditions: this.#resize.conditions,
      nowMs,
    };
    const rejection = this.#rejection;
    this.#api.publish(rejection === undefined ? podStatus(view, options) : rejectedStatus(rejection, view, nowMs));
  }

  #stored(): void {
    this.#writeRetry.reset();
    // The end of a pod goes on when the API knows of it.
    if (this.#stage === "ended") this.wake();
    else this.#schedule();
  }

  #failed(): void {
    this.#wakeAfter(this.#writeRetry.next());
    this.#schedule();
  }

  /** The newest known state of the API object. */
  get #pod(): Pod {
    return this.#api.pod;
  }

  get #uid(): string {
    return this.#pod.metadata.uid ?? "";
  }

  #seen(): RuntimePod {
    return this.#parts.view.of(this.#uid);
  }

  #view(): PodView {
    const { waiting, applied, restarting, restartDelay } = this.#records;
    return {
      pod: this.#pod,
      old: this.#api.status,
      ...this.#seen(),
      waiting,
      applied,
      restarting,
      restartDelay,
      holdsResize: this.#resize.isPending,
      probeResult: (run, kind) => this.#probes.result(run, kind),
    };
  }

  #address(): string | undefined {
    if (this.#pod.spec?.hostNetwork === true) return this.#parts.hostIps()[0];
    return this.#seen().sandboxes[0]?.ips[0];
  }

  #graceOf(): number {
    const { metadata, spec } = this.#pod;
    const asked = metadata.deletionGracePeriodSeconds;
    const eviction = this.#evictionGraceSeconds;
    if (eviction !== undefined) return Math.max(1, Math.min(eviction, Number(asked ?? eviction)));
    return Number(asked ?? spec?.terminationGracePeriodSeconds ?? graceSecondsDefault);
  }

  #recordBackOff(name: string): void {
    const container = containersOf(this.#pod).find(({ spec }) => spec.name === name);
    const message = `Back-off restarting failed container ${name} in pod ${podText(this.#pod)}`;
    this.#parts.record(this.#pod, { type: "Warning", reason: "BackOff", message }, container);
  }

  /** Removes all but the newest ended runs of a container, which are kept for their logs. */
  async #removeRuns(containers: readonly RuntimeContainer[], name: string): Promise<void> {
    const ended = containers.filter((run) => run.name === name && run.state.kind !== "running");
    for (const { id } of ended.slice(0, -endedRunsKept)) await this.#parts.runtime.removeContainer(id);
  }

  #retryLater(): void {
    this.#retryAfter(this.#retry.next());
  }

  #retryAfter(ms: number): void {
    this.#retryAtMs = this.#parts.clock.steadyMs() + ms;
    this.#wakeAt(this.#retryAtMs);
  }

  get #isHeldBack(): boolean {
    return this.#retryAtMs > this.#parts.clock.steadyMs();
  }

  #wakeAfter(ms: number): void {
    this.#wakeAt(this.#parts.clock.steadyMs() + ms);
  }

  #wakeAt(ms: number): void {
    this.#wakeAtMs = Math.min(this.#wakeAtMs, ms);
  }

  /** Sets the time at which this worker has something to do next. */
  #schedule(): void {
    const { schedule } = this.#parts;
    if (this.#isRemoved) return;
    const probeMs = this.#stage === "ended" ? undefined : this.#probes.nextMs(this.#pod);
    const refreshAtMs = this.#stage === "running" ? this.#files.dueMs : Number.POSITIVE_INFINITY;
    const dueMs = Math.min(this.#wakeAtMs, refreshAtMs, probeMs ?? Number.POSITIVE_INFINITY);
    if (dueMs === Number.POSITIVE_INFINITY) schedule.clear(this);
    else schedule.set(this, dueMs);
  }
}

function rejectedStatus({ reason, message }: Rejection, { old }: PodView, nowMs: number): PodStatus {
  return {
    phase: "Failed",
    reason,
    message: `Pod was rejected: ${message}`,
    startTime: old.startTime ?? formatTime(nowMs),
    ...(old.qosClass === undefined ? {} : { qosClass: old.qosClass }),
  };
}
