import type { Node, Pod } from "../../api/types/core-v1.ts";
import type { Client } from "../../client/client.ts";
import type { Occurrence } from "../../controllers/events/event-correlator.ts";
import type { Clock } from "../../process/clock.ts";
import type { Pressure } from "../node/eviction-thresholds.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { admitPod, pressureRejection, type Rejection } from "./admit-pod.ts";
import { imageCredentials } from "./image-credentials.ts";
import { ImagePuller } from "./image-puller.ts";
import { hookRunner } from "./lifecycle-hook.ts";
import type { KnownPod, PodDirectory } from "./pod-directory.ts";
import type { PodFiles } from "./pod-files.ts";
import { podRecorder } from "./pod-recorder.ts";
import { isMirrorPod, isStaticPod } from "./pod-source.ts";
import type { Eviction } from "./pod-status.ts";
import { isFinalPhase } from "./pod-view.ts";
import { PodWorker, type PodWorkerParts } from "./pod-worker.ts";
import { RuntimeView } from "./runtime-view.ts";
import type { Schedule } from "./schedule.ts";
import type { StatusWriter } from "./status-writer.ts";
import { removePod } from "./stop-pod.ts";

/** Grace period of containers whose pod is gone, so that nothing tells theirs. */
const orphanGraceSeconds = 2;
/** Time after which another attempt is made to end what is left of pods that are gone. */
const orphansRetryMs = 30_000;
/** Time without an answer of the runtime after which the pods count as neglected. */
const silentMsMax = 5 * 60_000;

/** Parts that all nodes of a process share. */
export interface SharedPodParts {
  readonly client: Pick<Client, "get">;
  readonly clock: Clock;
  readonly schedule: Schedule;
  readonly writer: StatusWriter;
  readonly recorder: { record(occurrence: Occurrence): void };
  /** In [0, 1). */
  readonly random: () => number;
  readonly onError: (error: unknown) => void;
}

export interface PodManagerParts extends SharedPodParts {
  readonly nodeName: string;
  readonly runtime: Runtime;
  readonly files: PodFiles;
  /** Directory of the logs of all pods, such as `/var/log/pods`. */
  readonly logDirectory: string;
  /** Told of the mirrors of static pods in the API: the last state, and the present one unless it is gone. */
  readonly mirrors?: { mirrorChanged(pod: Pod, mirror: Pod | undefined): void } | undefined;
  /** Returns the API object of the node; undefined while it is not known. */
  readonly node: () => Node | undefined;
  /** Returns the addresses of the node, the primary one first. */
  readonly hostIps: () => readonly string[];
  /** Returns the pressures of the node, under which it takes fewer pods; none by default. */
  readonly pressures?: (() => ReadonlySet<Pressure>) | undefined;
}

/** The pods of one node. */
export class PodManager implements PodDirectory, Disposable {
  readonly #parts: PodManagerParts;
  readonly #view: RuntimeView;
  readonly #workerParts: PodWorkerParts;
  /** By uid. */
  readonly #workers = new Map<string, PodWorker>();
  /** The newest pod of each name. */
  readonly #byName = new Map<string, PodWorker>();
  /** Static pods that wait for the end of an earlier one, by name. */
  readonly #successors = new Map<string, Pod>();
  /** Mirrors of static pods, by name. */
  readonly #mirrors = new Map<string, Pod>();
  readonly #subscription: Disposable;
  #orphansRetry: Disposable | undefined;
  #isDisposed = false;

  /** Reads what the runtime has, so that no pod that runs already counts as new. */
  static async open(parts: PodManagerParts): Promise<PodManager> {
    const view = new RuntimeView(parts.runtime, parts.clock);
    await view.refresh();
    return new PodManager(parts, view);
  }

  private constructor(parts: PodManagerParts, view: RuntimeView) {
    this.#parts = parts;
    this.#view = view;
    const record = podRecorder(parts.recorder, parts.nodeName);
    const addressOf = (pod: Pod) => this.#view.of(pod.metadata.uid ?? "").sandboxes[0]?.ips[0] ?? parts.hostIps()[0];
    this.#workerParts = {
      ...parts,
      record,
      view,
      runtimeType: parts.runtime.version.split("://")[0] ?? "",
      images: new ImagePuller({ ...parts, record, credentialFor: imageCredentials(parts.client, record) }),
      runHook: hookRunner({ ...parts, addressOf }),
      rejectionOf: (pod) => this.#rejectionOf(pod),
      removed: (podUid) => this.#removed(podUid),
    };
    this.#subscription = parts.runtime.subscribe((podUid) => this.#workers.get(podUid)?.wake());
  }

  /**
   * Takes a state of a pod of this node. A pod from a file or URL, which has an annotation that says so, is a static pod:
   * the status of its mirror, which has the same name, shows how it is.
   */
  podChanged(pod: Pod): void {
    if (isMirrorPod(pod)) return this.#mirrorChanged(pod, pod);
    const { uid = "" } = pod.metadata;
    const known = this.#workers.get(uid);
    if (known !== undefined) return known.update(pod);
    const name = nameOf(pod);
    const isBusy = isStaticPod(pod) && this.#byName.has(name);
    // Two versions of a static pod never run at the same time.
    if (isBusy) this.#successors.set(name, pod);
    else this.#start(pod);
  }

  /**
   * Takes the pods of this node as they are first listed. Those that it has accepted before keep their place; the others
   * are judged by age.
   */
  podsListed(pods: readonly Pod[]): void {
    const oldestFirst = pods.toSorted((a, b) =>
      createdAt(a) < createdAt(b) ? -1 : createdAt(a) > createdAt(b) ? 1 : 0,
    );
    const { known = [], new: added = [] } = Object.groupBy(oldestFirst, (pod) => (this.#isNew(pod) ? "new" : "known"));
    for (const pod of [...known, ...added]) {
      try {
        this.podChanged(pod);
      } catch (error) {
        // The others do not suffer for it.
        this.#parts.onError(error);
      }
    }
  }

  /** Takes the last state of a pod whose API object or file is gone. */
  podGone(pod: Pod): void {
    if (isMirrorPod(pod)) return this.#mirrorChanged(pod, undefined);
    const name = nameOf(pod);
    if (this.#successors.get(name)?.metadata.uid === pod.metadata.uid) this.#successors.delete(name);
    this.#workers.get(pod.metadata.uid ?? "")?.gone(pod);
  }

  /**
   * Ends what the runtime has of pods that are gone. Failures are reported, and tried again later. To be called when all
   * pods of the node are known.
   */
  async endOrphans(): Promise<void> {
    let hasFailed = false;
    const failed = (error: unknown): void => {
      hasFailed = true;
      this.#parts.onError(error);
    };
    await this.#view.refresh().catch(failed);
    for (const podUid of this.#view.podUids()) {
      // The workers are gone then, but their pods go on.
      if (this.#isDisposed) return;
      if (!this.#workers.has(podUid)) await this.#endOrphan(podUid).catch(failed);
    }
    if (!hasFailed || this.#isDisposed) return;
    this.#orphansRetry = this.#parts.clock.after(orphansRetryMs, () => void this.endOrphans());
  }

  /** Returns the pods that use the node, also those that are about to end. */
  activePods(): readonly Pod[] {
    return [...this.#workers.values()].filter(({ isActive }) => isActive).map(({ pod }) => pod);
  }

  /** Ends a pod because the node is short of something. */
  evict(podUid: string, eviction: Eviction): void {
    this.#workers.get(podUid)?.evict(eviction);
  }

  /** @throws Error if the pods have not been looked after for a while, because the runtime does not answer */
  requireSync(): void {
    if (this.#view.silentMs > silentMsMax) throw new Error("sync Loop took longer than expected");
  }

  pods(): readonly KnownPod[] {
    return [...this.#byName.values()].map((worker) => this.#known(worker));
  }

  find(namespace: string, name: string): KnownPod | undefined {
    const worker = this.#byName.get(`${namespace}/${name}`);
    return worker && this.#known(worker);
  }

  /** Stops looking after the pods. Their containers keep running. */
  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#orphansRetry?.[Symbol.dispose]();
    this.#subscription[Symbol.dispose]();
    for (const worker of this.#workers.values()) worker[Symbol.dispose]();
    this.#workers.clear();
    this.#byName.clear();
  }

  #known({ pod, probeCounts: probes }: PodWorker): KnownPod {
    const { sandboxes, containers } = this.#view.of(pod.metadata.uid ?? "");
    return { pod, runtime: this.#parts.runtime, sandbox: sandboxes[0], containers, probes };
  }

  async #endOrphan(podUid: string): Promise<void> {
    const { runtime, files } = this.#parts;
    const left = this.#view.of(podUid);
    await Promise.all(left.containers.map(({ id }) => runtime.stopContainer(id, orphanGraceSeconds)));
    for (const { id } of left.sandboxes) await runtime.stopSandbox(id);
    await removePod(runtime, left);
    await files.remove(podUid);
  }

  #start(pod: Pod): void {
    const worker = new PodWorker(this.#workerParts, pod);
    const rejection = this.#isNew(pod) ? (this.#pressureOn(pod) ?? this.#rejectionOf(pod)) : undefined;
    this.#workers.set(pod.metadata.uid ?? "", worker);
    this.#byName.set(nameOf(pod), worker);
    if (isStaticPod(pod)) worker.setMirror(this.#mirrors.get(nameOf(pod)));
    if (rejection === undefined) worker.wake();
    else worker.reject(rejection);
  }

  #mirrorChanged(pod: Pod, mirror: Pod | undefined): void {
    this.#parts.mirrors?.mirrorChanged(pod, mirror);
    const name = nameOf(pod);
    if (mirror === undefined) this.#mirrors.delete(name);
    else this.#mirrors.set(name, mirror);
    const worker = this.#byName.get(name);
    if (worker !== undefined && isStaticPod(worker.pod)) worker.setMirror(mirror);
  }

  /** Pods that this node has accepted before, also before a restart of the agent, are not judged again. */
  #isNew({ metadata, status }: Pod): boolean {
    const hasStarted = status?.startTime !== undefined || this.#view.of(metadata.uid ?? "").sandboxes.length > 0;
    return !hasStarted && metadata.deletionTimestamp === undefined && !isFinalPhase(status?.phase);
  }

  #pressureOn(pod: Pod): Rejection | undefined {
    return pressureRejection(pod, this.#parts.pressures?.() ?? new Set());
  }

  #rejectionOf(pod: Pod) {
    const node = this.#parts.node();
    if (node === undefined) return undefined;
    const others = this.activePods().filter(({ metadata }) => metadata.uid !== pod.metadata.uid);
    return admitPod(pod, node, others);
  }

  #removed(podUid: string): void {
    const worker = this.#workers.get(podUid);
    if (worker === undefined) return;
    this.#workers.delete(podUid);
    const name = nameOf(worker.pod);
    if (this.#byName.get(name) === worker) this.#byName.delete(name);
    const successor = this.#successors.get(name);
    if (successor === undefined) return;
    this.#successors.delete(name);
    this.#start(successor);
  }
}

function createdAt({ metadata: { creationTimestamp = "" } }: Pod): string {
  return creationTimestamp;
}

function nameOf({ metadata: { namespace = "", name = "" } }: Pod): string {
  return `${namespace}/${name}`;
}
