import { decodeEntry } from "../../api/codec/stored-object.ts";
import type { Key } from "../../api/entry.ts";
import type { Pod, Taint } from "../../api/types/core-v1.ts";
import type { Clock } from "../../process/clock.ts";
import type { Registry } from "../../registry/registry.ts";
import type { Store, StoreEvent } from "../../storage/store.ts";
import { EventRecorder } from "../events/event-recorder.ts";
import { namesOf } from "../object-key.ts";
import { type QueueSource, WorkQueue } from "../work-queue.ts";
import type { ClusterNodes } from "./cluster-nodes.ts";
import { deletePod } from "./doomed-pod.ts";
import { nodeOf, type PodsOnNodes } from "./pods-on-nodes.ts";
import { toleratedSeconds } from "./tolerations.ts";

const component = "taint-eviction-controller";
const workers = 8;
const disruption = { reason: "DeletionByTaintManager", message: "Taint manager: deleting due to NoExecute taint" };

export interface TaintEvictionParts extends QueueSource {
  readonly pods: Registry;
  readonly events: Registry;
  readonly clusterNodes: ClusterNodes;
  readonly podsOnNodes: PodsOnNodes;
  readonly store: Store;
  readonly clock: Clock;
  /** Receives the time from when each evicted pod was due until it was deleted. */
  readonly evicted?: ((seconds: number) => void) | undefined;
  readonly onError: (error: unknown) => void;
}

interface Eviction {
  readonly uid: string;
  /** By the steady clock. */
  readonly dueMs: number;
  /** Whether the deletion was announced and cannot be cancelled. */
  isAnnounced: boolean;
}

/**
 * Deletes pods that do not tolerate a NoExecute taint of their node, or no longer do. The toleration time starts when
 * this server sees the taint.
 */
export class TaintEviction {
  readonly #parts: TaintEvictionParts;
  readonly #running = new DisposableStack();
  readonly #recorder: EventRecorder;
  readonly #nodeQueue: WorkQueue;
  readonly #podQueue: WorkQueue;
  readonly #evictionQueue: WorkQueue;
  /** NoExecute taints of the nodes that have some, as text. */
  readonly #tainted = new Map<string, string>();
  /** Pods that will be deleted, at most as many as there are pods. */
  readonly #evictions = new Map<Key, Eviction>();

  constructor(parts: TaintEvictionParts) {
    const { clock, observeQueue, onError } = parts;
    this.#parts = parts;
    this.#recorder = this.#running.use(new EventRecorder({ ...parts, component }));
    const queue = (name: string, work: (key: string) => Promise<void>) =>
      this.#running.use(new WorkQueue({ name, clock, observeQueue, onError, workers, work }));
    this.#nodeQueue = queue("noexec_taint_node", async (name) => this.#considerNode(name));
    this.#podQueue = queue("noexec_taint_pod", async (key) => this.#considerPod(key));
    this.#evictionQueue = queue("taint_eviction", (key) => this.#evict(key));
  }

  start(): Disposable {
    const { clusterNodes, podsOnNodes } = this.#parts;
    clusterNodes.follow((name, type) => {
      if (type === "DELETED") this.#tainted.delete(name);
      else this.#nodeQueue.add(name);
    });
    podsOnNodes.follow((event) => this.#receivePod(event));
    for (const name of clusterNodes.names()) this.#nodeQueue.add(name);
    return this.#running;
  }

  #receivePod({ type, entry }: StoreEvent): void {
    if (type === "DELETED") this.#cancel(entry.key);
    else if (this.#tainted.has(nodeOf(entry)) || this.#evictions.has(entry.key)) this.#podQueue.add(entry.key);
  }

  #considerNode(name: string): void {
    const taints = this.#taintsOf(name);
    const text = taints.length === 0 ? undefined : JSON.stringify(taints);
    if (this.#tainted.get(name) === text || this.#running.disposed) return;
    if (text === undefined) this.#tainted.delete(name);
    else this.#tainted.set(name, text);
    for (const key of this.#parts.podsOnNodes.on(name)) this.#considerPod(key);
  }

  #considerPod(key: Key): void {
    const { store, pods, clock } = this.#parts;
    const entry = store.get(key);
    if (entry === undefined || this.#running.disposed) return;
    const taints = this.#taintsOf(nodeOf(entry));
    if (taints.length === 0) {
      this.#cancel(key);
      return;
    }
    const { metadata, spec } = decodeEntry(entry, pods.info) as Pod;
    if (metadata.deletionTimestamp !== undefined) return;
    const seconds = toleratedSeconds(taints, spec?.tolerations ?? []);
    if (seconds === undefined || seconds === Number.POSITIVE_INFINITY) this.#cancel(key);
    // A change does not extend a time that has started.
    if (seconds === Number.POSITIVE_INFINITY || this.#evictions.has(key)) return;
    const waitMs = (seconds ?? 0) * 1_000;
    this.#evictions.set(key, { uid: metadata.uid ?? "", dueMs: clock.steadyMs() + waitMs, isAnnounced: false });
    if (waitMs === 0) this.#evictionQueue.add(key);
    else this.#evictionQueue.addAfter(key, waitMs);
  }

  #taintsOf(node: string): Taint[] {
    const taints = this.#parts.clusterNodes.get(node)?.taints ?? [];
    return taints.filter(({ effect }) => effect === "NoExecute");
  }

  #cancel(key: Key): void {
    const eviction = this.#evictions.get(key);
    if (eviction === undefined || eviction.isAnnounced) return;
    this.#evictions.delete(key);
    this.#evictionQueue.cancel(key);
    this.#recordEvent(key, "Cancelling deletion of Pod");
  }

  async #evict(key: Key): Promise<void> {
    const { clock, evicted } = this.#parts;
    const eviction = this.#evictions.get(key);
    if (eviction === undefined || this.#running.disposed) return;
    const waitMs = eviction.dueMs - clock.steadyMs();
    if (waitMs > 0) {
      this.#evictionQueue.addAfter(key, waitMs);
      return;
    }
    if (!eviction.isAnnounced) this.#recordEvent(key, "Marking for deletion Pod");
    eviction.isAnnounced = true;
    if (await deletePod(this.#parts, { key, uid: eviction.uid }, { disruption })) {
      evicted?.((clock.steadyMs() - eviction.dueMs) / 1_000);
    }
    this.#evictions.delete(key);
    // Another pod may have taken the name in the meantime.
    this.#podQueue.add(key);
  }

  #recordEvent(key: Key, action: string): void {
    const { namespace, name } = namesOf(this.#parts.pods, key);
    const about = { apiVersion: "v1", kind: "Pod", namespace, name };
    const message = `${action} ${namespace}/${name}`;
    this.#recorder.record({ about, type: "Normal", reason: "TaintManagerEviction", message });
  }
}
