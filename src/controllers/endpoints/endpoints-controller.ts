import type { Key } from "../../api/entry.ts";
import { equalJson, type JsonValue } from "../../api/json.ts";
import type { EndpointAddress, EndpointSubset, Endpoints, Service } from "../../api/types/core-v1.ts";
import type { Clock } from "../../process/clock.ts";
import { thrownText } from "../../process/thrown-text.ts";
import { TurnSlice } from "../../process/turn-slice.ts";
import type { Registry } from "../../registry/registry.ts";
import { removeObject } from "../../registry/remove-object.ts";
import { controllerManagerContext } from "../../registry/server-context.ts";
import type { Store } from "../../storage/store.ts";
import type { RecordEvent } from "../events/record-event.ts";
import { followChanges } from "../follow-objects.ts";
import { isNamespaceTerminating } from "../namespace-terminating.ts";
import { PodSelectors } from "../pod-selectors.ts";
import { selectedPods } from "../selected-pods.ts";
import { type QueueSource, WorkQueue } from "../work-queue.ts";
import { type EndpointPod, endpointPodOf, hostnameIn, portOnPod } from "./endpoint-pod.ts";
import { followServices } from "./follow-services.ts";
import { familiesOf, headlessLabel, isHeadless, selectorOf } from "./service-facts.ts";
import { addressCount, addressesMax, repack, subset, truncated } from "./subsets.ts";
import { TriggerTimes, triggerTimeAnnotation } from "./trigger-times.ts";

const managedByLabel = "endpoints.kubernetes.io/managed-by";
const managedBy = "endpoint-controller";
const overCapacityAnnotation = "endpoints.kubernetes.io/over-capacity";
/** Annotation of Endpoints by which old clients elect leaders. They belong to no service. */
export const leaderAnnotation = "control-plane.alpha.kubernetes.io/leader";
const workers = 5;
const failuresMax = 15;

export interface EndpointsControllerParts extends QueueSource {
  readonly services: Registry;
  readonly endpoints: Registry;
  readonly pods: Registry;
  readonly store: Store;
  readonly clock: Clock;
  readonly record: RecordEvent;
  readonly onError: (error: unknown) => void;
}

/** Maintains an Endpoints object for each service with a selector, for clients that do not know EndpointSlices. */
export class EndpointsController {
  readonly #parts: EndpointsControllerParts;
  readonly #selectors = new PodSelectors();
  readonly #times = new TriggerTimes();
  readonly #slice = new TurnSlice();

  constructor(parts: EndpointsControllerParts) {
    this.#parts = parts;
  }

  start(): Disposable {
    const { store, clock, endpoints, observeQueue, onError } = this.#parts;
    const running = new DisposableStack();
    const work = (key: string) => this.#sync(key);
    const queue = running.use(
      new WorkQueue({ name: "endpoint", clock, observeQueue, onError, workers, failuresMax, work }),
    );
    running.use(followServices({ ...this.#parts, selectors: this.#selectors, changed: (key) => queue.add(key) }));
    const { keyPrefix } = endpoints.info;
    const look = (key: Key) => queue.add(key.slice(keyPrefix.length));
    // Existing Endpoints may have lost their service while no controller ran.
    for (const { key } of store.scan(keyPrefix)) look(key);
    running.use(followChanges(store, keyPrefix, (key, type) => type === "DELETED" && look(key)));
    return running;
  }

  async #sync(key: string): Promise<void> {
    await this.#slice.pass();
    const { services, pods } = this.#parts;
    const [namespace = "", name = ""] = key.split("/");
    const service = services.current(namespace, name) as Service | undefined;
    const selector = selectorOf(service);
    this.#selectors.set(namespace, name, selector);
    if (service === undefined) return this.#remove(namespace, name);
    if (selector === undefined) return;
    const selected = await selectedPods(namespace, selector, { pods, slice: this.#slice, read: endpointPodOf });
    const since = this.#times.next(key, service, selected);
    await this.#write(service, wantedEndpoints(service, selected, this.#current(service), since));
  }

  #current({ metadata: { namespace = "", name = "" } }: Service): Endpoints | undefined {
    return this.#parts.endpoints.current(namespace, name) as Endpoints | undefined;
  }

  /** Removes the Endpoints of a deleted service. */
  async #remove(namespace: string, name: string): Promise<void> {
    const { endpoints } = this.#parts;
    this.#times.delete(`${namespace}/${name}`);
    const current = endpoints.current(namespace, name);
    if (current === undefined || current.metadata.annotations?.[leaderAnnotation] !== undefined) return;
    await removeObject(endpoints, current, controllerManagerContext);
  }

  async #write({ metadata }: Service, wanted: Endpoints | undefined): Promise<void> {
    if (wanted === undefined) return;
    const { endpoints, record } = this.#parts;
    const { namespace = "", name = "" } = metadata;
    const exists = wanted.metadata.resourceVersion !== undefined;
    try {
      if (exists) await endpoints.update(namespace, name, () => wanted, controllerManagerContext);
      else await endpoints.create(wanted, namespace, controllerManagerContext);
    } catch (error) {
      if (!exists && isNamespaceTerminating(error)) return;
      const reason = exists ? "FailedToUpdateEndpoint" : "FailedToCreateEndpoint";
      const what = exists ? "update endpoint" : "create endpoint for service";
      record(wanted, {
        type: "Warning",
        reason,
        message: `Failed to ${what} ${namespace}/${name}: ${thrownText(error)}`,
      });
      throw error;
    }
  }
}

/** Returns the correct Endpoints of a service, or undefined if `current` is correct. */
export function wantedEndpoints(
  service: Service,
  pods: readonly EndpointPod[],
  current: Endpoints | undefined,
  since: string | undefined,
): Endpoints | undefined {
  const { namespace = "", name = "", labels = {} } = service.metadata;
  const subsets = repack(subsetsOf(service, pods));
  if (current !== undefined && isAsWanted(current, subsets, labels)) return undefined;
  const {
    [triggerTimeAnnotation]: _time,
    [overCapacityAnnotation]: _over,
    ...kept
  } = current?.metadata.annotations ?? {};
  const fitting = truncated(subsets);
  const annotations = {
    ...kept,
    ...(since !== undefined && { [triggerTimeAnnotation]: since }),
    ...(fitting !== undefined && { [overCapacityAnnotation]: "truncated" }),
  };
  const { [headlessLabel]: _headless, ...plain } = labels;
  return {
    kind: "Endpoints",
    apiVersion: "v1",
    metadata: {
      ...(current?.metadata ?? { name, namespace }),
      labels: { ...plain, ...(isHeadless(service) && { [headlessLabel]: "" }), [managedByLabel]: managedBy },
      annotations,
    },
    ...(subsets.length > 0 && { subsets: fitting ?? subsets }),
  };
}

/** Compares the meaning, because another writer may have arranged the same endpoints differently. */
function isAsWanted(
  { metadata: { labels = {}, annotations = {} }, subsets = [] }: Endpoints,
  wanted: readonly EndpointSubset[],
  serviceLabels: Readonly<Record<string, string>>,
): boolean {
  if (addressCount(subsets) > addressesMax || annotations[overCapacityAnnotation] !== undefined) return false;
  const { [managedByLabel]: manager, [headlessLabel]: _headless, ...copied } = labels;
  if (manager !== managedBy || !equalJson(copied, serviceLabels)) return false;
  return equalJson(repack(subsets.map(withoutVersions)) as JsonValue, wanted as JsonValue);
}

function withoutVersions({ addresses, notReadyAddresses, ports }: EndpointSubset): EndpointSubset {
  return subset((addresses ?? []).map(withoutVersion), (notReadyAddresses ?? []).map(withoutVersion), ports ?? []);
}

/** Old releases recorded the pod's resourceVersion, which changes with every heartbeat. */
function withoutVersion(address: EndpointAddress): EndpointAddress {
  const { targetRef } = address;
  if (targetRef?.resourceVersion === undefined) return address;
  const { resourceVersion: _version, ...rest } = targetRef;
  return { ...address, targetRef: rest };
}

/** Returns one subset for each pod and port. */
function subsetsOf(service: Service, pods: readonly EndpointPod[]): EndpointSubset[] {
  const { ports = [], clusterIP, publishNotReadyAddresses = false } = service.spec ?? {};
  return pods.flatMap((pod) => {
    const address = addressOf(service, pod);
    if (address === undefined || (pod.isTerminating && !publishNotReadyAddresses)) return [];
    const isReady = pod.isReady || publishNotReadyAddresses;
    const at = (endpointPorts: NonNullable<EndpointSubset["ports"]>) =>
      isReady ? subset([address], [], endpointPorts) : subset([], [address], endpointPorts);
    if (ports.length === 0) return clusterIP === "None" ? [at([])] : [];
    return ports.flatMap((servicePort) => {
      const port = portOnPod(pod, servicePort);
      if (port === undefined) return [];
      const { name, protocol = "TCP", appProtocol } = servicePort;
      return [
        at([
          { ...(name !== undefined && { name }), port, protocol, ...(appProtocol !== undefined && { appProtocol }) },
        ]),
      ];
    });
  });
}

/** Returns the address of the pod in the first family of the service. */
function addressOf(service: Service, pod: EndpointPod): EndpointAddress | undefined {
  const family = familiesOf(service)[0] ?? pod.ips[0]?.family;
  const ip = pod.ips.find((one) => one.family === family);
  if (ip === undefined) return undefined;
  const { namespace, name, uid, nodeName } = pod;
  const hostname = hostnameIn(pod, service.metadata.name ?? "");
  return {
    ip: ip.text,
    ...(hostname !== undefined && { hostname }),
    ...(nodeName !== "" && { nodeName }),
    targetRef: { kind: "Pod", namespace, name, uid },
  };
}
