import type { Registry } from "../../registry/registry.ts";
import type { Store, StoreEvent } from "../../storage/store.ts";
import { followObjects } from "../follow-objects.ts";
import { namesOf } from "../object-key.ts";
import type { PodSelectors } from "../pod-selectors.ts";
import { endpointsDiffer } from "./endpoint-pod.ts";

export interface FollowServicesParts {
  readonly services: Registry;
  readonly pods: Registry;
  readonly store: Store;
  /** The last known selector of each service, so that a change of a selector counts as a change of the service. */
  readonly selectors: PodSelectors;
  /** Called with `<namespace>/<name>` of a service that was added, changed or deleted, or whose pods have changed. */
  readonly changed: (service: string) => void;
}

/** Reports each service whose endpoints may have to change. A pod that no service selects costs one look-up. */
export function followServices({ services, pods, store, selectors, changed }: FollowServicesParts): Disposable {
  const running = new DisposableStack();
  const { keyPrefix } = services.info;
  running.use(followObjects(store, keyPrefix, (key) => changed(key.slice(keyPrefix.length))));
  const receive = (events: readonly StoreEvent[]) => {
    for (const event of events) {
      const { key } = event.entry;
      if (!key.startsWith(pods.info.keyPrefix)) continue;
      const { namespace } = namesOf(pods, key);
      for (const name of selectors.concernedBy(event, namespace, endpointsDiffer)) changed(`${namespace}/${name}`);
    }
  };
  running.use(store.subscribe(receive));
  return running;
}
