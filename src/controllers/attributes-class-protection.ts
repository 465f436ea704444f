import { attributesClassFinalizer } from "../admission/storage-object-in-use-protection.ts";
import { decodeEntry } from "../api/codec/stored-object.ts";
import type { Key } from "../api/entry.ts";
import type * as coreV1 from "../api/types/core-v1.ts";
import type { Clock } from "../process/clock.ts";
import type { Registry } from "../registry/registry.ts";
import type { Store, StoreEvent } from "../storage/store.ts";
import { followObjects } from "./follow-objects.ts";
import { isHeldBy, release } from "./held-object.ts";
import { type QueueSource, WorkQueue } from "./work-queue.ts";

/** Time from a change to the check, which reads all claims and volumes. Further changes in this time share the check. */
const settleMs = 500;
const everyClass = "every class";

export interface AttributesClassProtectionParts extends QueueSource {
  readonly classes: Registry;
  readonly claims: Registry;
  readonly volumes: Registry;
  readonly store: Store;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** Removes admission's finalizer from deleted VolumeAttributesClasses that no claim and no volume names. */
export class AttributesClassProtection {
  readonly #parts: AttributesClassProtectionParts;
  readonly #queue: WorkQueue;
  /** Names of classes that may be waiting for removal. At most as many as there are classes. */
  readonly #candidates = new Set<string>();

  constructor(parts: AttributesClassProtectionParts) {
    const { clock, observeQueue, onError } = parts;
    this.#parts = parts;
    const work = () => this.check();
    this.#queue = new WorkQueue({ name: "attributes_class_protection", clock, observeQueue, onError, work });
  }

  start(): Disposable {
    const { store, classes } = this.#parts;
    const { keyPrefix } = classes.info;
    const running = new DisposableStack();
    running.use(this.#queue);
    const consider = (key: Key) => {
      this.#candidates.add(key.slice(keyPrefix.length));
      this.#plan();
    };
    running.use(followObjects(store, keyPrefix, consider));
    running.use(store.subscribe((events) => this.#receiveUsers(events)));
    return running;
  }

  /** Releases every class that is no longer used. */
  async check(): Promise<void> {
    const { classes } = this.#parts;
    for (const name of this.#candidates) {
      if (!isHeldBy(classes.current("", name), attributesClassFinalizer)) this.#candidates.delete(name);
    }
    if (this.#candidates.size === 0) return;
    const used = this.#used();
    for (const name of [...this.#candidates].filter((candidate) => !used.has(candidate))) {
      await release(classes, "", name, attributesClassFinalizer);
      this.#candidates.delete(name);
    }
  }

  /** A changed or removed claim or volume may have been the last one that names a class. */
  #receiveUsers(events: readonly StoreEvent[]): void {
    if (this.#candidates.size === 0) return;
    const { claims, volumes } = this.#parts;
    const prefixes = [claims.info.keyPrefix, volumes.info.keyPrefix];
    const isUser = ({ type, entry }: StoreEvent) =>
      type !== "ADDED" && prefixes.some((prefix) => entry.key.startsWith(prefix));
    if (events.some(isUser)) this.#plan();
  }

  #plan(): void {
    this.#queue.addAfter(everyClass, settleMs);
  }

  /** Returns the names of the classes that claims and volumes have, had or are about to get. */
  #used(): ReadonlySet<string> {
    const { claims, volumes } = this.#parts;
    const names = new Set<string | undefined>();
    for (const entry of claims.cacher.entries()) {
      const { spec, status } = decodeEntry(entry, claims.info) as coreV1.PersistentVolumeClaim;
      names.add(spec?.volumeAttributesClassName);
      names.add(status?.currentVolumeAttributesClassName);
      names.add(status?.modifyVolumeStatus?.targetVolumeAttributesClassName);
    }
    for (const entry of volumes.cacher.entries()) {
      names.add((decodeEntry(entry, volumes.info) as coreV1.PersistentVolume).spec?.volumeAttributesClassName);
    }
    names.delete(undefined);
    return names as ReadonlySet<string>;
  }
}
