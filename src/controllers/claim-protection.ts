import { claimFinalizer } from "../admission/storage-object-in-use-protection.ts";
import { bodyIncludes, decodeEntry } from "../api/codec/stored-object.ts";
import type { Key } from "../api/entry.ts";
import type { PersistentVolumeClaim, Pod, Volume } from "../api/types/core-v1.ts";
import type { Clock } from "../process/clock.ts";
import type { Registry } from "../registry/registry.ts";
import type { Store, StoreEvent } from "../storage/store.ts";
import { ephemeralClaimName, isClaimOfPod } from "./ephemeral-claim.ts";
import { followObjects } from "./follow-objects.ts";
import { hold, isHeldBy, lacksFinalizer, release } from "./held-object.ts";
import { namesOf } from "./object-key.ts";
import { type QueueSource, WorkQueue } from "./work-queue.ts";

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

  /** A pod that has changed or gone may have been the last that uses a claim. The volumes of a pod never change. */
  #receivePods(events: readonly StoreEvent[]): void {
    if (this.#inUse.size === 0) return;
    const { pods, claims } = this.#parts;
    for (const { type, entry } of events) {
      if (type === "ADDED" || !entry.key.startsWith(pods.info.keyPrefix)) continue;
      const pod = decodeEntry(entry, pods.info) as Pod;
      const { namespace } = namesOf(pods, entry.key);
      for (const volume of pod.spec?.volumes ?? []) {
        const key = claims.keyOf(namespace, claimNameOf(pod, volume));
        if (this.#inUse.has(key)) this.#queue.add(key);
      }
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
    const { pods } = this.#parts;
    const { name = "" } = claim.metadata;
    const quoted = Buffer.from(JSON.stringify(name));
    return pods.cacher.entries(pods.keyOf(namespace, "")).some((entry) => {
      if ((entry.index.fields?.["spec.nodeName"] ?? "") === "") return false;
      // A namespace may have thousands of pods. Only those that can use the claim are decoded.
      const isNamedAfterPod = name.startsWith(`${namesOf(pods, entry.key).name}-`);
      return (isNamedAfterPod || bodyIncludes(entry, quoted)) && uses(decodeEntry(entry, pods.info) as Pod, claim);
    });
  }
}

/** Returns the name of the claim of a volume; empty for a volume without one. */
function claimNameOf(pod: Pod, volume: Volume): string {
  if (volume.ephemeral !== undefined) return ephemeralClaimName(pod, volume);
  return volume.persistentVolumeClaim?.claimName ?? "";
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
