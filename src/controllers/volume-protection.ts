import { claimFinalizer, volumeFinalizer } from "../admission/storage-object-in-use-protection.ts";
import { decodeEntry } from "../api/codec/stored-object.ts";
import type { Key } from "../api/entry.ts";
import type { PersistentVolume, Pod } from "../api/types/core-v1.ts";
import type { Clock } from "../process/clock.ts";
import type { Registry } from "../registry/registry.ts";
import type { Store, StoreEvent } from "../storage/store.ts";
import { isHeldBy, release } from "./held-object.ts";
import { followObjects, type QueueSource, WorkQueue } from "./work-queue.ts";

/** Maximum time until claims in use are checked again. They are also checked when a pod is removed. */
const checkIntervalMs = 60_000;

export interface VolumeProtectionParts extends QueueSource {
  readonly claims: Registry;
  readonly volumes: Registry;
  readonly pods: Registry;
  readonly store: Store;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** Removes admission's finalizers from claims that no pod uses any more and from volumes that are not bound. */
export class VolumeProtection {
  readonly #parts: VolumeProtectionParts;
  readonly #queue: WorkQueue;
  /** Keys of deleted claims that wait for a pod. */
  readonly #inUse = new Set<Key>();

  constructor(parts: VolumeProtectionParts) {
    const { clock, observeQueue, onError } = parts;
    this.#parts = parts;
    this.#queue = new WorkQueue({
      name: "volume_protection",
      clock,
      observeQueue,
      onError,
      work: (key) => this.#check(key),
    });
  }

  start(): Disposable {
    const { store, clock, claims, volumes, pods } = this.#parts;
    const running = new DisposableStack();
    running.use(this.#queue);
    const consider = (key: Key) => this.#queue.add(key);
    running.use(followObjects(store, claims.info.keyPrefix, consider));
    running.use(followObjects(store, volumes.info.keyPrefix, consider));
    running.use(store.subscribe((events) => this.#receivePods(events, pods.info.keyPrefix)));
    running.use(clock.every(checkIntervalMs, () => this.#considerInUse("")));
    return running;
  }

  #receivePods(events: readonly StoreEvent[], prefix: Key): void {
    if (this.#inUse.size === 0) return;
    for (const { type, entry } of events) {
      if (type === "ADDED" || !entry.key.startsWith(prefix)) continue;
      const namespace = entry.key.slice(prefix.length, entry.key.lastIndexOf("/") + 1);
      this.#considerInUse(this.#parts.claims.info.keyPrefix + namespace);
    }
  }

  #considerInUse(prefix: Key): void {
    for (const key of this.#inUse) if (key.startsWith(prefix)) this.#queue.add(key);
  }

  #check(key: Key): Promise<void> {
    this.#inUse.delete(key);
    return key.startsWith(this.#parts.claims.info.keyPrefix) ? this.#checkClaim(key) : this.#checkVolume(key);
  }

  async #checkClaim(key: Key): Promise<void> {
    const { claims } = this.#parts;
    const [namespace = "", name = ""] = key.slice(claims.info.keyPrefix.length).split("/");
    if (!isHeldBy(claims.current(namespace, name), claimFinalizer)) return;
    if (this.#isUsed(namespace, name)) this.#inUse.add(key);
    else await release(claims, namespace, name, claimFinalizer);
  }

  async #checkVolume(key: Key): Promise<void> {
    const { volumes } = this.#parts;
    const name = key.slice(volumes.info.keyPrefix.length);
    const volume = volumes.current("", name);
    if (!isHeldBy(volume, volumeFinalizer)) return;
    if ((volume as PersistentVolume).status?.phase !== "Bound") await release(volumes, "", name, volumeFinalizer);
  }

  /** Reports whether a pod that has not ended uses the claim. */
  #isUsed(namespace: string, claim: string): boolean {
    const { info, cacher } = this.#parts.pods;
    const page = cacher.list({ prefix: `${info.keyPrefix}${namespace}/` });
    if (page instanceof Promise) throw new Error("the newest state is always in memory");
    return page.entries.some((entry) => {
      const phase = entry.index.fields?.["status.phase"];
      return phase !== "Succeeded" && phase !== "Failed" && mounts(decodeEntry(entry, info), claim);
    });
  }
}

/**
 * Reports whether the pod uses the claim. The claim of a generic ephemeral volume is named after the pod and the
 * volume.
 */
function mounts(pod: Pod, claim: string): boolean {
  return (pod.spec?.volumes ?? []).some(({ name, ephemeral, persistentVolumeClaim }) => {
    if (persistentVolumeClaim?.claimName === claim) return true;
    return ephemeral !== undefined && `${pod.metadata.name}-${name}` === claim;
  });
}
