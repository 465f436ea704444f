import type { Pod } from "../../api/types/core-v1.ts";
import type { Clock } from "../../process/clock.ts";
import type { EvictionSignal, Machine } from "../node/machine.ts";
import type { PodDirectory } from "../pods/pod-directory.ts";
import type { PodFiles } from "../pods/pod-files.ts";
import type { RecordPodEvent } from "../pods/pod-recorder.ts";
import { isCriticalPod } from "../pods/pod-source.ts";
import type { Eviction } from "../pods/pod-status.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { MetricFamily } from "../serving/stats/exposition.ts";
import type { EvictionSettings } from "./eviction-limits.ts";
import { evictionText } from "./eviction-message.ts";
import { measurePod } from "./measure-pod.ts";
import { isShort, type NodePressure, type Shortage } from "./node-pressure.ts";
import { resourceOf } from "./pod-usage.ts";
import { type Candidate, rankPods } from "./rank-pods.ts";
import { hasStorageLimits, storageExcess } from "./storage-limits.ts";

const checkMs = 10_000;
/** Interval of the looks at a pod that is being evicted. */
const endCheckMs = 1_000;
/** Shortest time for which the next eviction waits for a pod to end, and that time in grace periods of the pod. */
const endWaitMs = 30_000;
const endWaitGracePeriods = 1.5;
/** Interval of the measurements of pods whose storage is limited. */
const storageMs = 60_000;
/** Grace period of a pod that has to go at once. */
const hardGraceSeconds = 1;

export interface EvictionParts {
  readonly settings: EvictionSettings;
  /** Told of every measurement. */
  readonly pressure: NodePressure;
  readonly machine: Pick<Machine, "usage">;
  readonly runtime: Pick<Runtime, "stats">;
  readonly pods: EvictablePods;
  readonly files: Pick<PodFiles, "localVolumesOf">;
  readonly logDirectory: string;
  readonly clock: Clock;
  /** Frees what nobody needs, such as images without a container. Called before pods are evicted for their disk. */
  readonly reclaimDisk?: (() => Promise<void>) | undefined;
  /** Records an Event about the node. */
  readonly warn: (reason: string, message: string) => void;
  /** Records an Event about a pod. */
  readonly record: RecordPodEvent;
  /** Called when the conditions of the node change. */
  readonly changed: () => void;
  readonly onError: (error: unknown) => void;
}

/** The pods of a node, as far as their eviction goes. */
export interface EvictablePods extends Pick<PodDirectory, "find"> {
  /** Returns the pods that use the node. */
  activePods(): readonly Pod[];
  evict(podUid: string, eviction: Eviction): void;
}

/** Evicts pods when the node runs short of something, one at a time, and those that use more storage than they may. */
export class EvictionManager {
  readonly #parts: EvictionParts;
  /** Times by the steady clock until which the next eviction waits for pods to end, by their uid. */
  readonly #waitsUntilMs = new Map<string, number>();
  /** Number of evictions, by signal. */
  readonly #evictions = new Map<string, number>();

  constructor(parts: EvictionParts) {
    this.#parts = parts;
  }

  metrics(): MetricFamily[] {
    const help = "Cumulative number of pod evictions by eviction signal";
    const samples = [...this.#evictions].map(([eviction_signal, value]) => ({ labels: { eviction_signal }, value }));
    return [{ name: "kubelet_evictions", help, type: "counter", samples }];
  }

  /** Looks at the node, and evicts a pod if it is short. Returns the time until the next call. Does not reject. */
  async check(): Promise<number> {
    try {
      if (this.#isWaiting()) return endCheckMs;
      return (await this.#relieve(await this.#observe())) ? endCheckMs : checkMs;
    } catch (error) {
      this.#parts.onError(error);
      return checkMs;
    }
  }

  /**
   * Evicts pods that use more of the disk than their limits allow. Measuring them can take minutes, so this runs beside
   * the checks of the node. Returns the time until the next call. Does not reject.
   */
  async checkStorageLimits(): Promise<number> {
    await this.#limitStorage().catch(this.#parts.onError);
    return storageMs;
  }

  /** Reports whether evicted pods still have to end. */
  #isWaiting(): boolean {
    const { pods, clock } = this.#parts;
    const active = new Set(pods.activePods().map(({ metadata }) => metadata.uid));
    for (const [podUid, untilMs] of this.#waitsUntilMs) {
      if (!active.has(podUid) || clock.steadyMs() >= untilMs) this.#waitsUntilMs.delete(podUid);
    }
    return this.#waitsUntilMs.size > 0;
  }

  async #observe(): Promise<readonly Shortage[]> {
    const { pressure, machine, clock, changed } = this.#parts;
    const before = pressure.pressures;
    const due = pressure.observe(await machine.usage(), clock.steadyMs());
    if (before.symmetricDifference(pressure.pressures).size > 0) changed();
    return due;
  }

  async #limitStorage(): Promise<void> {
    const limited = this.#parts.pods.activePods().filter(hasStorageLimits);
    if (limited.length === 0) return;
    for (const { pod, usage } of await this.#measure(limited, true)) {
      const excess = usage === undefined ? undefined : storageExcess(pod, usage);
      if (excess === undefined || this.#waitsUntilMs.has(pod.metadata.uid ?? "")) continue;
      const eviction = { message: excess.message, graceSeconds: hardGraceSeconds, isDisruption: false };
      this.#evict(pod, eviction, {}, excess.signal);
    }
  }

  /** Evicts the pod that suits best to end a shortage. Memory goes first. */
  async #relieve(shortages: readonly Shortage[]): Promise<boolean> {
    const { warn, pods, settings } = this.#parts;
    const [worst] = shortages.toSorted((a, b) => Number(isMemory(b)) - Number(isMemory(a)));
    if (worst === undefined) return false;
    const { signal, graceMs } = worst.limit;
    const resource = resourceOf[signal];
    warn("EvictionThresholdMet", `Attempting to reclaim ${resource}`);
    if (await this.#reclaimed(signal)) return false;
    const isDisk = resource === "ephemeral-storage" || resource === "inodes";
    const ranked = rankPods(await this.#measure(pods.activePods(), isDisk), resource);
    // A pod over its storage limits may have been evicted meanwhile.
    if (this.#isWaiting()) return true;
    const related = shortages.filter((one) => resourceOf[one.limit.signal] === resource);
    for (const { pod, usage } of ranked) {
      const { message, annotations } = evictionText(pod, usage, related);
      const graceSeconds = graceMs === 0 ? hardGraceSeconds : softGraceSeconds(pod, settings);
      if (this.#evict(pod, { message, graceSeconds, isDisruption: true }, annotations, signal)) return true;
    }
    return false;
  }

  /** Frees disk space that no pod needs. Reports whether that was enough. */
  async #reclaimed(signal: EvictionSignal): Promise<boolean> {
    const { reclaimDisk, machine, settings, onError } = this.#parts;
    const isDisk = signal.startsWith("nodefs.") || signal.startsWith("imagefs.");
    if (!isDisk || reclaimDisk === undefined) return false;
    await reclaimDisk().catch(onError);
    const usage = await machine.usage();
    return settings.limits.every((limit) => {
      const supply = usage[limit.signal];
      return supply === undefined || !isShort(limit, supply, true);
    });
  }

  async #measure(pods: readonly Pod[], measuresDisk: boolean): Promise<Candidate[]> {
    const { runtime, files, logDirectory, pods: directory } = this.#parts;
    const stats = new Map((await runtime.stats()).map((one) => [one.containerId, one]));
    const candidates: Candidate[] = [];
    for (const pod of pods) {
      const { namespace = "", name = "", uid } = pod.metadata;
      const known = directory.find(namespace, name);
      const isSame = known?.pod.metadata.uid === uid;
      const options = { files, logDirectory, stats, measuresDisk };
      candidates.push({ pod, usage: known !== undefined && isSame ? await measurePod(known, options) : undefined });
    }
    return candidates;
  }

  /** Returns false for a pod that the node needs. */
  #evict(pod: Pod, eviction: Eviction, annotations: Readonly<Record<string, string>>, cause: string): boolean {
    const { pods, record, clock } = this.#parts;
    if (isCriticalPod(pod)) return false;
    const { uid: podUid = "" } = pod.metadata;
    record(pod, { type: "Warning", reason: "Evicted", message: eviction.message, annotations });
    pods.evict(podUid, eviction);
    const waitMs = Math.max(endWaitMs, eviction.graceSeconds * endWaitGracePeriods * 1_000);
    this.#waitsUntilMs.set(podUid, clock.steadyMs() + waitMs);
    this.#evictions.set(cause, (this.#evictions.get(cause) ?? 0) + 1);
    return true;
  }
}

function isMemory({ limit }: Shortage): boolean {
  return limit.signal === "memory.available";
}

/** Returns the grace period of a pod that a soft limit evicts. */
function softGraceSeconds({ spec }: Pod, { podGraceSecondsMax }: EvictionSettings): number {
  const own = spec?.terminationGracePeriodSeconds;
  return own === undefined ? podGraceSecondsMax : Math.min(podGraceSecondsMax, Number(own));
}
