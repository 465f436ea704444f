import type { Key } from "../../api/entry.ts";
import type { Registry } from "../../registry/registry.ts";
import type { Store, StoreEvent } from "../../storage/store.ts";
import { followObjects } from "../work-queue.ts";
import { endpointChanges, endpointPodOf } from "./endpoint-pod.ts";
import type { ServiceSelectors } from "./service-selectors.ts";

export interface FollowServicesParts {
  readonly services: Registry;
  readonly pods: Registry;
  readonly store: Store;
  /** The last known selector of each service, so that a change of a selector counts as a change of the service. */
  readonly selectors: ServiceSelectors;
  /** Called with `<namespace>/<name>` of a service that was added, changed or deleted, or whose pods have changed. */
  readonly changed: (service: string) => void;
}

/** Reports each service whose endpoints may have to change. A pod that no service selects costs one look-up. */
export function followServices({ services, pods, store, selectors, changed }: FollowServicesParts): Disposable {
  const running = new DisposableStack();
  const { keyPrefix } = services.info;
  running.use(followObjects(store, keyPrefix, (key) => changed(key.slice(keyPrefix.length))));
  const podPrefix = pods.info.keyPrefix;
  const receive = (events: readonly StoreEvent[]) => {
    for (const event of events) {
      const { key } = event.entry;
      if (!key.startsWith(podPrefix)) continue;
      const namespace = namespaceOf(key, podPrefix);
      if (!selectors.has(namespace)) continue;
      for (const name of servicesOf(event, namespace, selectors)) changed(`${namespace}/${name}`);
    }
  };
  running.use(store.subscribe(receive));
  return running;
}

/** Returns the services whose endpoints a change of a pod can affect. */
export function servicesOf(
  { type, entry, previous }: StoreEvent,
  namespace: string,
  selectors: ServiceSelectors,
): ReadonlySet<string> {
  const after = selectors.matching(namespace, entry.index.labels);
  if (previous === undefined || type === "DELETED") {
    return after.size > 0 && endpointPodOf(previous ?? entry) !== undefined ? after : new Set();
  }
  const before =
    previous.index.labels === entry.index.labels ? after : selectors.matching(namespace, previous.index.labels);
  if (before.size === 0 && after.size === 0) return after;
  return endpointChanges(previous, entry) ? before.union(after) : before.symmetricDifference(after);
}

function namespaceOf(key: Key, prefix: Key): string {
  return key.slice(prefix.length, key.indexOf("/", prefix.length));
}
