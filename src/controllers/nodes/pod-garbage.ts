import { maybeDeleting } from "../../api/codec/stored-metadata.ts";
import { decodeEntry } from "../../api/codec/stored-object.ts";
import type { Entry, Key } from "../../api/entry.ts";
import { StatusError } from "../../api/status.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import type { Clock } from "../../process/clock.ts";
import type { Registry } from "../../registry/registry.ts";
import { type Store, StoreUnavailableError } from "../../storage/store.ts";
import { eachAtATime } from "../each-at-a-time.ts";
import { namesOf } from "../object-key.ts";
import type { ClusterNodes } from "./cluster-nodes.ts";
import { deletePod, type LastWords } from "./doomed-pod.ts";
import type { PodsOnNodes } from "./pods-on-nodes.ts";

const periodMs = 20_000;
/** Time for which a node must be missing before its pods are deleted. */
const quarantineMs = 40_000;
const deletionsAtATime = 8;
const outOfService = "node.kubernetes.io/out-of-service";
const nodeGone = { reason: "DeletionByPodGC", message: "PodGC: node no longer exists" };

/** Upstream's names of the reasons, for metrics. */
export type GarbageReason = "terminated" | "out-of-service" | "orphaned" | "unscheduled";

export interface PodGarbageObserver {
  deleting(namespace: string, reason: GarbageReason): void;
  failed(namespace: string, reason: GarbageReason): void;
}

export interface PodGarbageParts {
  readonly pods: Registry;
  readonly nodes: Registry;
  readonly clusterNodes: ClusterNodes;
  readonly podsOnNodes: PodsOnNodes;
  readonly store: Store;
  readonly clock: Clock;
  /** Number of ended pods to keep; 0 keeps all. */
  readonly terminatedMax: number;
  readonly observer?: PodGarbageObserver | undefined;
  readonly onError: (error: unknown) => void;
}

/**
 * Deletes the pods that no agent will ever delete: those on nodes that are gone or out of service, those that were never
 * bound, and ended ones above a number. Checks every 20 seconds while there are any.
 */
export class PodGarbage {
  readonly #parts: PodGarbageParts;
  readonly #running = new DisposableStack();
  /** Pods that may be being deleted, and ended pods. */
  readonly #terminating = new Set<Key>();
  readonly #ended = new Set<Key>();
  /** Missing nodes that pods name, with the time since which they are known to be missing, by the steady clock. */
  readonly #missingSinceMs = new Map<string, number>();
  #timer: Disposable | undefined;
  #isCollecting = false;

  constructor(parts: PodGarbageParts) {
    this.#parts = parts;
  }

  start(): Disposable {
    const { pods, store, podsOnNodes } = this.#parts;
    this.#running.defer(() => this.#timer?.[Symbol.dispose]());
    for (const entry of store.scan(pods.info.keyPrefix)) this.#note(entry);
    podsOnNodes.follow(({ type, entry }) => {
      if (this.#running.disposed) return;
      if (type === "DELETED") this.#forget(entry.key);
      else this.#note(entry);
    });
    return this.#running;
  }

  #note(entry: Entry): void {
    this.#forget(entry.key);
    if (maybeDeleting(entry)) this.#terminating.add(entry.key);
    if (hasEnded(entry)) this.#ended.add(entry.key);
    const { clock, onError } = this.#parts;
    this.#timer ??= clock.every(periodMs, () => void this.#collect().catch(onError));
  }

  #forget(key: Key): void {
    this.#terminating.delete(key);
    this.#ended.delete(key);
  }

  async #collect(): Promise<void> {
    if (this.#isCollecting) return;
    this.#isCollecting = true;
    try {
      await this.#collectEnded();
      await this.#collectTerminating();
      await this.#collectOrphans();
    } finally {
      this.#isCollecting = false;
    }
    if (this.#parts.pods.cacher.size > 0) return;
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
  }

  async #collectEnded(): Promise<void> {
    const { terminatedMax } = this.#parts;
    const excess = this.#ended.size - terminatedMax;
    if (terminatedMax === 0 || excess <= 0) return;
    const pods = [...this.#ended].flatMap((key) => this.#decode(key) ?? []);
    pods.sort((one, other) => compareEnded(one.pod, other.pod));
    await this.#deleteAll(pods.slice(0, excess), "terminated", { fails: true });
  }

  async #collectTerminating(): Promise<void> {
    const pods = [...this.#terminating].flatMap((key) => this.#decode(key) ?? []);
    const terminating = pods.filter(({ pod }) => pod.metadata.deletionTimestamp !== undefined);
    const unserved = terminating.filter(({ pod }) => this.#isOutOfService(pod.spec?.nodeName ?? ""));
    await this.#deleteAll(unserved, "out-of-service", { fails: true });
    const unscheduled = terminating.filter(({ pod }) => (pod.spec?.nodeName ?? "") === "");
    await this.#deleteAll(unscheduled, "unscheduled", { fails: true });
  }

  #isOutOfService(name: string): boolean {
    const node = this.#parts.clusterNodes.get(name);
    return node !== undefined && node.ready?.status !== "True" && node.taints.some(({ key }) => key === outOfService);
  }

  async #collectOrphans(): Promise<void> {
    const { clusterNodes, podsOnNodes, nodes, store, clock } = this.#parts;
    const nowMs = clock.steadyMs();
    const named = new Set([...podsOnNodes.nodes()].filter((name) => !clusterNodes.has(name)));
    for (const name of this.#missingSinceMs.keys()) if (!named.has(name)) this.#missingSinceMs.delete(name);
    const gone: string[] = [];
    for (const name of named) {
      const sinceMs = this.#missingSinceMs.get(name);
      if (sinceMs === undefined) this.#missingSinceMs.set(name, nowMs);
      else if (nowMs - sinceMs >= quarantineMs) gone.push(name);
    }
    if (gone.length === 0) return;
    // This replica's state may be old. A node counts as gone only if the newest state lacks it.
    await store.readBarrier();
    for (const name of gone) {
      if (store.get(nodes.keyOf("", name)) !== undefined) continue;
      const pods = [...podsOnNodes.on(name)].flatMap((key) => this.#decode(key) ?? []);
      await this.#deleteAll(pods, "orphaned", { fails: true, disruption: nodeGone });
    }
  }

  #decode(key: Key): { readonly key: Key; readonly pod: Pod } | undefined {
    const { store, pods } = this.#parts;
    const entry = store.get(key);
    return entry === undefined ? undefined : { key, pod: decodeEntry(entry, pods.info) as Pod };
  }

  async #deleteAll(
    garbage: readonly { readonly key: Key; readonly pod: Pod }[],
    reason: GarbageReason,
    words: LastWords,
  ): Promise<void> {
    await eachAtATime(garbage, deletionsAtATime, async ({ key, pod }) => {
      if (!this.#running.disposed) await this.#delete(key, pod.metadata.uid ?? "", reason, words);
    });
  }

  async #delete(key: Key, uid: string, reason: GarbageReason, words: LastWords): Promise<void> {
    const { pods, observer, onError } = this.#parts;
    const { namespace } = namesOf(pods, key);
    observer?.deleting(namespace, reason);
    try {
      await deletePod(this.#parts, { key, uid }, words, 0);
    } catch (error) {
      // The next round tries again.
      observer?.failed(namespace, reason);
      if (!(error instanceof StatusError || error instanceof StoreUnavailableError)) onError(error);
    }
  }
}

function hasEnded({ index }: Entry): boolean {
  const phase = index.fields?.["status.phase"] ?? "";
  return phase === "Succeeded" || phase === "Failed";
}

/** Orders ended pods: evicted ones first, then by age and name. */
function compareEnded(one: Pod, other: Pod): number {
  const [isEvicted, isOtherEvicted] = [one, other].map(wasEvicted);
  if (isEvicted !== isOtherEvicted) return isEvicted === true ? -1 : 1;
  const [created = "", otherCreated = ""] = [one, other].map(({ metadata }) => metadata.creationTimestamp);
  if (created !== otherCreated) return created < otherCreated ? -1 : 1;
  return (one.metadata.name ?? "") < (other.metadata.name ?? "") ? -1 : 1;
}

/** Reports whether a node's agent has evicted the pod. */
function wasEvicted({ status }: Pod): boolean {
  return status?.phase === "Failed" && status.reason === "Evicted";
}
