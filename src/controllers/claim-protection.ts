import { claimFinalizer } from "../admission/storage-object-in-use-protection.ts";
import { decodeEntry } from "../api/codec/stored-object.ts";
import type { Key } from "../api/entry.ts";
import type { PersistentVolumeClaim, Pod } from "../api/types/core-v1.ts";
import type { Clock } from "../process/clock.ts";
import type { Registry } from "../registry/registry.ts";
import type { Store, StoreEvent } from "../storage/store.ts";
import { isClaimOfPod } from "./ephemeral-claim.ts";
import { hold, isHeldBy, lacksFinalizer, release } from "./held-object.ts";
import { namesOf } from "./object-key.ts";
import { followObjects, type QueueSource, WorkQueue } from "./work-queue.ts";

export interface ClaimProtectionParts extends QueueSource {
  readonly claims: Registry;
  readonly pods: Registry;
  readonly store: Store;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** Holds claims with admission's finalizer, and releases those that are deleted when no pod on a node uses them. */
export class ClaimProtection {
  readonly #parts: ClaimProtectionParts;
  readonly #queue: WorkQueue;
  /** Keys of claims that are being deleted and wait for a pod. */
  readonly #inUse = new Set<Key>();

  constructor(parts: ClaimProtectionParts) {
    const { clock, observeQueue, onError } = parts;
    this.#parts = parts;
    this.#queue = new WorkQueue({
      name: "pvcprotection",
      clock,
      observeQueue,
      onError,
      work: (key) => this.#check(key),
    });
  }

  start(): Disposable {
    const { store, claims } = this.#parts;
    const running = new DisposableStack();
    running.use(this.#queue);
    running.use(
      followObjects(store, claims.info.keyPrefix, (key, type) => {
        if (type === "DELETED") this.#inUse.delete(key);
        else this.#queue.add(key);
      }),
    );
    running.use(store.subscribe((events) => this.#receivePods(events)));
    return running;
  }

  /** A pod that has changed or gone may have been the last that uses a claim. */
  #receivePods(events: readonly StoreEvent[]): void {
    if (this.#inUse.size === 0) return;
    const { pods, claims } = this.#parts;
    for (const { type, entry } of events) {
      if (type === "ADDED" || !entry.key.startsWith(pods.info.keyPrefix)) continue;
      const { namespace } = namesOf(pods, entry.key);
      const prefix = claims.keyOf(namespace, "");
      for (const key of this.#inUse) if (key.startsWith(prefix)) this.#queue.add(key);
    }
  }

  async #check(key: Key): Promise<void> {
    const { claims, store } = this.#parts;
    const { namespace, name } = namesOf(claims, key);
    this.#inUse.delete(key);
    const claim = claims.current(namespace, name) as PersistentVolumeClaim | undefined;
    if (claim === undefined) return;
    if (lacksFinalizer(claim, claimFinalizer)) await hold(claims, namespace, name, claimFinalizer);
    if (!isHeldBy(claim, claimFinalizer)) return;
    // This replica's state may be old. A claim is unused only if the newest state has no pod that uses it.
    await store.readBarrier();
    if (this.#isUsed(namespace, claim)) this.#inUse.add(key);
    else await release(claims, namespace, name, claimFinalizer);
  }

  /** Reports whether a pod on a node uses the claim. One without a node cannot start with a claim that is deleted. */
  #isUsed(namespace: string, claim: PersistentVolumeClaim): boolean {
    const { info, cacher } = this.#parts.pods;
    const page = cacher.list({ prefix: `${info.keyPrefix}${namespace}/` });
    if (page instanceof Promise) throw new Error("the newest state is always in memory");
    return page.entries.some((entry) => {
      const isOnNode = (entry.index.fields?.["spec.nodeName"] ?? "") !== "";
      return isOnNode && uses(decodeEntry(entry, info) as Pod, claim);
    });
  }
}

function uses(pod: Pod, claim: PersistentVolumeClaim): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
  // The agent of the node has ended such a pod, whose finalizers may wait for the claim.
  const isShutDown = deletionTimestamp !== undefined && Number(deletionGracePeriodSeconds) === 0;
  return (pod.spec?.volumes ?? []).some(
    (volume) =>
      volume.persistentVolumeClaim?.claimName === claim.metadata.name ||
      (!isShutDown && isClaimOfPod(pod, volume, claim)),
  );
}
