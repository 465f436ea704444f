import { attributesClassFinalizer } from "../admission/storage-object-in-use-protection.ts";
import { decodeEntry } from "../api/codec/stored-object.ts";
import type { Key } from "../api/entry.ts";
import type { KubeObject } from "../api/object-meta.ts";
import type * as coreV1 from "../api/types/core-v1.ts";
import type { Clock } from "../process/clock.ts";
import type { Registry } from "../registry/registry.ts";
import type { Store } from "../storage/store.ts";
import { isHeldBy, release } from "./held-object.ts";
import { followObjects } from "./work-queue.ts";

/** Longest time that an unused class outlives its deletion. A check reads all claims and volumes, so it is rare. */
const checkIntervalMs = 10_000;

export interface AttributesClassProtectionParts {
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
  /** Names of classes that may be waiting for their removal. It has at most the classes that there are. */
  readonly #candidates = new Set<string>();
  #checking = false;

  constructor(parts: AttributesClassProtectionParts) {
    this.#parts = parts;
  }

  start(): Disposable {
    const { store, clock, classes, onError } = this.#parts;
    const { keyPrefix } = classes.info;
    const running = new DisposableStack();
    const consider = (key: Key) => this.#candidates.add(key.slice(keyPrefix.length));
    running.use(followObjects(store, keyPrefix, consider));
    running.use(clock.every(checkIntervalMs, () => void this.check().catch(onError)));
    return running;
  }

  /** Releases every class that is held for nothing. */
  async check(): Promise<void> {
    if (this.#checking) return;
    this.#checking = true;
    try {
      const { classes } = this.#parts;
      for (const name of this.#candidates) {
        if (!isHeldBy(classes.current("", name), attributesClassFinalizer)) this.#candidates.delete(name);
      }
      if (this.#candidates.size === 0) return;
      const used = this.#used();
      for (const name of [...this.#candidates].filter((candidate) => !used.has(candidate))) {
        this.#candidates.delete(name);
        await release(classes, "", name, attributesClassFinalizer);
      }
    } finally {
      this.#checking = false;
    }
  }

  /** Returns the names of the classes that claims and volumes have, had or are about to get. */
  #used(): ReadonlySet<string> {
    const { claims, volumes } = this.#parts;
    const names = new Set<string | undefined>();
    for (const object of objectsOf(claims)) {
      const { spec, status } = object as unknown as coreV1.PersistentVolumeClaim;
      names.add(spec?.volumeAttributesClassName);
      names.add(status?.currentVolumeAttributesClassName);
      names.add(status?.modifyVolumeStatus?.targetVolumeAttributesClassName);
    }
    for (const object of objectsOf(volumes)) {
      names.add((object as unknown as coreV1.PersistentVolume).spec?.volumeAttributesClassName);
    }
    names.delete(undefined);
    return names as ReadonlySet<string>;
  }
}

function objectsOf({ info, cacher }: Registry): KubeObject[] {
  const page = cacher.list({ prefix: info.keyPrefix });
  if (page instanceof Promise) throw new Error("the newest state is always in memory");
  return page.entries.map((entry) => decodeEntry(entry, info));
}
