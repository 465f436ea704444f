import { volumeFinalizer } from "../admission/storage-object-in-use-protection.ts";
import type { PersistentVolume } from "../api/types/core-v1.ts";
import type { Clock } from "../process/clock.ts";
import type { Registry } from "../registry/registry.ts";
import type { Store } from "../storage/store.ts";
import { followObjects } from "./follow-objects.ts";
import { hold, isHeldBy, lacksFinalizer, release } from "./held-object.ts";
import { type QueueSource, WorkQueue } from "./work-queue.ts";

export interface VolumeProtectionParts extends QueueSource {
  readonly volumes: Registry;
  readonly store: Store;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** Holds volumes with admission's finalizer, and releases those that are deleted when they are not bound. */
export function startVolumeProtection({ volumes, store, ...parts }: VolumeProtectionParts): Disposable {
  const { keyPrefix } = volumes.info;
  const running = new DisposableStack();
  const work = async (key: string) => {
    const name = key.slice(keyPrefix.length);
    const volume = volumes.current("", name) as PersistentVolume | undefined;
    if (volume === undefined) return;
    if (lacksFinalizer(volume, volumeFinalizer)) await hold(volumes, "", name, volumeFinalizer);
    else if (isHeldBy(volume, volumeFinalizer) && volume.status?.phase !== "Bound") {
      await release(volumes, "", name, volumeFinalizer);
    }
  };
  const queue = running.use(new WorkQueue({ ...parts, name: "pvprotection", work }));
  running.use(
    followObjects(store, keyPrefix, (key, type) => {
      if (type !== "DELETED") queue.add(key);
    }),
  );
  return running;
}
