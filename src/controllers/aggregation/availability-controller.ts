import type { Entry } from "../../api/entry.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { formatTime } from "../../api/time.ts";
import type { APIService } from "../../api/types/apiregistration-v1.ts";
import { BackendError } from "../../client/aggregation/aggregated-backend.ts";
import { groupVersionPath } from "../../client/resource-path.ts";
import { apiService } from "../../kinds/apiregistration/api-service.ts";
import {
  type RemoteServedApi,
  remoteApis,
  type ServedApi,
  type ServedApis,
} from "../../kinds/apiregistration/api-services.ts";
import { apiServiceNameOf, groupVersionOfName } from "../../kinds/apiregistration/automatic-api-service.ts";
import {
  type Availability,
  locallyAvailable,
  withAvailability,
} from "../../kinds/apiregistration/available-condition.ts";
import { serviceNameLabel } from "../../kinds/discovery/endpoint-slice-labels.ts";
import { strategyOf } from "../../registry/kind.ts";
import type { Registries } from "../../registry/registries.ts";
import type { Registry } from "../../registry/registry.ts";
import { apiServerContext } from "../../registry/server-context.ts";
import type { Store } from "../../storage/store.ts";
import { followObjects } from "../follow-objects.ts";
import { namesOf } from "../object-key.ts";
import { type QueueSource, RetryError, WorkQueue } from "../work-queue.ts";
import { type AvailabilityCheckParts, checkAvailability } from "./availability-check.ts";

/** Interval of the checks of services without changes. */
const recheckMs = 30_000;
/** First delay after a failed check. It doubles with each further failure, up to `recheckMs`. */
const retryMsMin = 5;
/** Number of APIServices checked at a time. The check of a dead service takes seconds. */
const workers = 5;

export interface AvailabilityParts extends AvailabilityCheckParts, QueueSource {
  readonly apis: ServedApis;
  readonly registries: Registries;
  readonly store: Store;
  readonly onError: (error: unknown) => void;
}

/** Records in each APIService whether the group version is reachable. */
export function startAvailabilityController(parts: AvailabilityParts): Disposable {
  const { store, registries, clock, observeQueue, onError } = parts;
  const running = new DisposableStack();
  const registry = registries.builtIn(apiService);
  const name = "RemoteAvailabilityController";
  const retries = { retryMsMin, retryMsMax: recheckMs };
  const work = (apiServiceName: string) => settle(parts, registry, apiServiceName);
  const queue = running.use(new WorkQueue({ name, clock, observeQueue, workers, ...retries, onError, work }));
  const { keyPrefix } = registry.info;
  running.use(followObjects(store, keyPrefix, (key) => queue.add(key.slice(keyPrefix.length))));
  running.use(
    clock.every(recheckMs, () => {
      for (const api of remoteApis(parts.apis)) queue.add(apiServiceNameOf(api));
    }),
  );
  const ofService = apisByService(parts.apis);
  running.use(
    followServices(parts, (namespace, name) => {
      for (const api of ofService().get(`${namespace}/${name}`) ?? []) queue.add(apiServiceNameOf(api));
    }),
  );
  return running;
}

/** Checks one APIService and records the result. @throws RetryError if the check failed in a way that may pass */
async function settle(parts: AvailabilityParts, registry: Registry, name: string): Promise<void> {
  const { group, version } = groupVersionOfName(name);
  const api = parts.apis.find(group, version);
  if (api === undefined) return;
  let found = locallyAvailable;
  try {
    if (api.remote !== undefined) found = await checkAvailability(api.remote, groupVersionPath(api), parts);
  } catch (error) {
    if (error instanceof BackendError && error.reason === "unusable") throw new RetryError(error.message);
    throw error;
  }
  await write(parts, registry, name, api, found);
  if (found.reason === "FailedDiscoveryCheck") throw new RetryError(found.message);
}

/** Writes the result, unless the APIService has another service by now. */
async function write(
  { clock }: AvailabilityParts,
  registry: Registry,
  name: string,
  { apiService: checked }: ServedApi,
  found: Availability,
): Promise<void> {
  const now = formatTime(clock.nowMs());
  const changed = (old: APIService) =>
    old.metadata.uid === checked.metadata.uid && JSON.stringify(old.spec) === JSON.stringify(checked.spec)
      ? withAvailability(old, found, now)
      : old;
  const current = registry.current("", name) as APIService | undefined;
  if (current === undefined || changed(current) === current) return;
  await registry.update("", name, (old) => changed(old as APIService) as unknown as KubeObject, apiServerContext, {
    strategy: strategyOf(apiService, "status"),
    subresource: "status",
    reapplies: true,
  });
}

/** Returns a function that returns the APIServices of each Service, by `<namespace>/<name>`. */
function apisByService(apis: ServedApis): () => ReadonlyMap<string, readonly RemoteServedApi[]> {
  let generation: number | undefined;
  let byService: ReadonlyMap<string, readonly RemoteServedApi[]> = new Map();
  return () => {
    if (generation === apis.generation()) return byService;
    byService = Map.groupBy(remoteApis(apis), ({ remote }) => `${remote.namespace}/${remote.name}`);
    generation = apis.generation();
    return byService;
  };
}

/** Reports every change of a Service or of its endpoints. */
function followServices(
  { store, registries }: AvailabilityParts,
  changed: (namespace: string, name: string) => void,
): Disposable {
  const services = registries.builtIn({ group: "", resource: "services" });
  const slices = registries.builtIn({ group: "discovery.k8s.io", resource: "endpointslices" });
  const serviceOf = (entry: Entry | undefined) => {
    if (entry?.key.startsWith(services.info.keyPrefix) === true) return namesOf(services, entry.key);
    if (entry?.key.startsWith(slices.info.keyPrefix) !== true) return undefined;
    const { namespace } = namesOf(slices, entry.key);
    return { namespace, name: entry.index.labels?.[serviceNameLabel] ?? "" };
  };
  return store.subscribe((events) => {
    for (const { entry, previous } of events) {
      const now = serviceOf(entry);
      if (now === undefined) continue;
      changed(now.namespace, now.name);
      const before = serviceOf(previous);
      if (before !== undefined && before.name !== now.name) changed(before.namespace, before.name);
    }
  });
}
