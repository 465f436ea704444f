import type { Clock } from "../api/clock.ts";
import type { KubeObject } from "../api/object-meta.ts";
import { StatusError } from "../api/status.ts";
import { claimFinalizer, volumeFinalizer } from "../admission/storage-object-in-use-protection.ts";
import { systemUser } from "../authentication/system-user.ts";
import { decodeEntry } from "../codec/stored-object.ts";
import type { Registry, WriteContext } from "../registry/registry.ts";
import type { Key, Store, StoreEvent } from "../storage/store.ts";

/** What is still in use is looked at again when a pod goes, and in any case after this time. */
const checkIntervalMs = 60_000;

const context: WriteContext = { user: systemUser, manager: "quorate", dryRun: false, warn() {} };

export interface VolumeProtectionParts {
  readonly claims: Registry;
  readonly volumes: Registry;
  readonly pods: Registry;
  readonly store: Store;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/**
 * Lets claims go that no pod uses any more, and volumes that are not bound: takes away the finalizers that admission has
 * given them. Waiting keys are those of objects that are being deleted; they are worked off one at a time.
 */
export class VolumeProtection {
  readonly #parts: VolumeProtectionParts;
  readonly #waiting = new Set<Key>();
  /** Claims that wait for a pod, by the keys of the claims. */
  readonly #inUse = new Set<Key>();
  #running = false;
  #stopped = false;

  constructor(parts: VolumeProtectionParts) {
    this.#parts = parts;
  }

  start(): Disposable {
    const { store, clock, claims, volumes } = this.#parts;
    const running = new DisposableStack();
    running.defer(() => {
      this.#stopped = true;
    });
    for (const { info } of [claims, volumes]) for (const { key } of store.scan(info.keyPrefix)) this.#consider(key);
    running.use(store.subscribe((events) => this.#receive(events)));
    running.use(clock.every(checkIntervalMs, () => this.#considerInUse("")));
    return running;
  }

  #receive(events: readonly StoreEvent[]): void {
    const { claims, volumes, pods } = this.#parts;
    for (const { type, entry } of events) {
      const { key } = entry;
      if (key.startsWith(pods.info.keyPrefix)) {
        const namespace = key.slice(pods.info.keyPrefix.length, key.lastIndexOf("/") + 1);
        if (type !== "ADDED" && this.#inUse.size > 0) this.#considerInUse(claims.info.keyPrefix + namespace);
      } else if (
        type === "MODIFIED" &&
        (key.startsWith(claims.info.keyPrefix) || key.startsWith(volumes.info.keyPrefix))
      ) {
        this.#consider(key);
      }
    }
  }

  #considerInUse(prefix: Key): void {
    for (const key of this.#inUse) if (key.startsWith(prefix)) this.#consider(key);
  }

  #consider(key: Key): void {
    this.#waiting.add(key);
    if (this.#running || this.#stopped) return;
    this.#running = true;
    // Off the store's notification: the listener must return at once.
    setImmediate(() => void this.#work());
  }

  async #work(): Promise<void> {
    for (const key of this.#waiting) {
      if (this.#stopped) break;
      this.#waiting.delete(key);
      this.#inUse.delete(key);
      try {
        if (key.startsWith(this.#parts.claims.info.keyPrefix)) await this.#checkClaim(key);
        else await this.#checkVolume(key);
      } catch (error) {
        // Gone, or changed just now: then there is another event.
        const isLost = error instanceof StatusError && (error.code === 404 || error.code === 409);
        if (!isLost && !this.#stopped) this.#parts.onError(error);
      }
    }
    this.#running = false;
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
    const { phase } = (volume?.["status"] ?? {}) as { phase?: string };
    if (phase !== "Bound") await release(volumes, "", name, volumeFinalizer);
  }

  /** By a pod that has not ended. */
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

/** A generic ephemeral volume has a claim that is named after the pod and the volume. */
function mounts(pod: KubeObject, claim: string): boolean {
  const { volumes = [] } = (pod["spec"] ?? {}) as {
    volumes?: { name: string; ephemeral?: object; persistentVolumeClaim?: { claimName?: string } }[];
  };
  return volumes.some(({ name, ephemeral, persistentVolumeClaim }) => {
    if (persistentVolumeClaim?.claimName === claim) return true;
    return ephemeral !== undefined && `${pod.metadata.name}-${name}` === claim;
  });
}

function isHeldBy(object: KubeObject | undefined, finalizer: string): boolean {
  return object?.metadata.deletionTimestamp !== undefined && (object.metadata.finalizers ?? []).includes(finalizer);
}

async function release(registry: Registry, namespace: string, name: string, finalizer: string): Promise<void> {
  const without = (old: KubeObject): KubeObject => ({
    ...old,
    metadata: { ...old.metadata, finalizers: (old.metadata.finalizers ?? []).filter((held) => held !== finalizer) },
  });
  await registry.update(namespace, name, without, context, { reapplies: true });
}
