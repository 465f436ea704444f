import type { Key } from "../api/entry.ts";
import type { KubeObject } from "../api/object-meta.ts";
import { formatTime } from "../api/time.ts";
import type { StorageVersion, StorageVersionCondition } from "../api/types/apiserverinternal-v1alpha1.ts";
import type { ResourceType } from "../client/client.ts";
import type { Clock } from "../process/clock.ts";
import type { Registry } from "../registry/registry.ts";
import { removeObject } from "../registry/remove-object.ts";
import { controllerManagerContext } from "../registry/server-context.ts";
import type { Strategy } from "../registry/strategy.ts";
import type { Store } from "../storage/store.ts";
import { followObjects } from "./follow-objects.ts";
import { identityLabel, identityLeaseNamespace } from "./identity-lease.ts";
import { type QueueSource, WorkQueue } from "./work-queue.ts";

export const storageVersions: ResourceType = {
  group: "internal.apiserver.k8s.io",
  version: "v1alpha1",
  resource: "storageversions",
};
const conditionType = "AllEncodingVersionsEqual";

export interface StorageVersionCleanerParts extends QueueSource {
  readonly versions: Registry;
  readonly versionStatus: Strategy;
  readonly leases: Registry;
  readonly store: Store;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** Removes what API servers that no longer run have noted about the versions in which they store objects. */
export function startStorageVersionCleaner(parts: StorageVersionCleanerParts): Disposable {
  const { versions, leases, store, clock, observeQueue, onError } = parts;
  const { keyPrefix } = versions.info;
  const running = new DisposableStack();
  const work = (key: Key) => clean(parts, key.slice(keyPrefix.length));
  const name = "storage_version_garbage_collector_storageversions";
  const queue = running.use(new WorkQueue({ name, clock, observeQueue, onError, work }));
  running.use(followObjects(store, keyPrefix, (key, type) => type !== "DELETED" && queue.add(key)));
  const ofServers = leases.keyOf(identityLeaseNamespace, "");
  const receive = (type: string) => {
    if (type === "DELETED") for (const { key } of versions.cacher.entries()) queue.add(key);
  };
  running.use(followObjects(store, ofServers, (_, type) => receive(type)));
  return running;
}

async function clean(parts: StorageVersionCleanerParts, name: string): Promise<void> {
  const { versions, versionStatus, clock } = parts;
  const found = versions.current("", name) as StorageVersion | undefined;
  const noted = found?.status.storageVersions ?? [];
  const current = noted.filter(({ apiServerID = "" }) => isRunning(parts, apiServerID));
  if (found === undefined || current.length === noted.length) return;
  if (current.length === 0) {
    await removeObject(versions, found as unknown as KubeObject, controllerManagerContext);
    return;
  }
  const next = withVersions(found, current, clock.nowMs()) as unknown as KubeObject;
  const options = { strategy: versionStatus, subresource: "status" };
  await versions.update("", name, () => next, controllerManagerContext, options);
}

function isRunning({ leases }: StorageVersionCleanerParts, server: string): boolean {
  const lease = leases.current(identityLeaseNamespace, server);
  return lease?.metadata.labels?.[identityLabel.name] === identityLabel.value;
}

/** Returns the object with the versions of these servers, and says whether they agree. */
export function withVersions(
  version: StorageVersion,
  storageVersions: NonNullable<StorageVersion["status"]["storageVersions"]>,
  nowMs: number,
): StorageVersion {
  const { commonEncodingVersion: before, conditions = [], ...rest } = version.status;
  const encodings = new Set(storageVersions.map(({ encodingVersion }) => encodingVersion));
  const [common] = encodings.size === 1 ? encodings : [];
  const old = conditions.find(({ type }) => type === conditionType);
  const status = common === undefined ? "False" : "True";
  const isOther = old?.status !== status || (before !== undefined && common !== undefined && before !== common);
  const condition: StorageVersionCondition = {
    type: conditionType,
    status,
    observedGeneration: version.metadata.generation ?? 0,
    lastTransitionTime: isOther ? formatTime(nowMs) : (old.lastTransitionTime ?? formatTime(nowMs)),
    reason: common === undefined ? "CommonEncodingVersionUnset" : "CommonEncodingVersionSet",
    message: common === undefined ? "Common encoding version unset" : "Common encoding version set",
  };
  return {
    ...version,
    status: {
      ...rest,
      storageVersions,
      ...(common !== undefined && { commonEncodingVersion: common }),
      conditions: [...conditions.filter((one) => one !== old), condition],
    },
  };
}
