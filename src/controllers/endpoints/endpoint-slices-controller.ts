import type { Service } from "../../api/types/core-v1.ts";
import type { EndpointSlice } from "../../api/types/discovery-v1.ts";
import type { Clock } from "../../process/clock.ts";
import { TurnSlice } from "../../process/turn-slice.ts";
import type { Registry } from "../../registry/registry.ts";
import type { Store } from "../../storage/store.ts";
import type { RecordEvent } from "../events/record-event.ts";
import { PodSelectors } from "../pod-selectors.ts";
import { selectedPods } from "../selected-pods.ts";
import { type QueueSource, RetryError, WorkQueue } from "../work-queue.ts";
import { endpointPodOf } from "./endpoint-pod.ts";
import { followServices } from "./follow-services.ts";
import { measuredSync } from "./measured-sync.ts";
import { endpointsPerSlice } from "./pack-endpoints.ts";
import { selectorOf } from "./service-facts.ts";
import { type EndpointNode, planServiceSlices, type ServiceSlicesPlan, serviceSliceManager } from "./service-slices.ts";
import { SliceCounts } from "./slice-counts.ts";
import type { SliceObserver, SliceOutcome } from "./slice-observer.ts";
import { writeSlices } from "./slice-writes.ts";
import { StoredSlices } from "./stored-slices.ts";
import { trafficPreference } from "./traffic-hints.ts";
import { TriggerTimes, withTriggerTime } from "./trigger-times.ts";

const workers = 5;
const failuresMax = 15;
const retryMsMin = 1_000;
const retryMsMax = 1_000_000;
/** Time from a change of a slice to the check of that slice. */
const sliceCheckMs = 1_000;
const zoneLabel = "topology.kubernetes.io/zone";

export interface EndpointSlicesControllerParts extends QueueSource {
  readonly services: Registry;
  readonly slices: Registry;
  readonly pods: Registry;
  readonly nodes: Registry;
  readonly store: Store;
  readonly clock: Clock;
  readonly record: RecordEvent;
  readonly observer: SliceObserver;
  readonly onError: (error: unknown) => void;
}

/** Maintains the EndpointSlices of each service with a selector. Slices of other managers are left alone. */
export class EndpointSlicesController {
  readonly #parts: EndpointSlicesControllerParts;
  readonly #stored: StoredSlices;
  readonly #selectors = new PodSelectors();
  readonly #times = new TriggerTimes();
  readonly #counts = new SliceCounts(endpointsPerSlice);
  readonly #slice = new TurnSlice();

  constructor(parts: EndpointSlicesControllerParts) {
    this.#parts = parts;
    this.#stored = new StoredSlices(parts.slices, parts.store, serviceSliceManager);
  }

  start(): Disposable {
    const { clock, observer, observeQueue, onError } = this.#parts;
    const running = new DisposableStack();
    const work = (key: string) => this.#sync(key);
    const retries = { failuresMax, retryMsMin, retryMsMax };
    const options = { name: "endpoint_slice", clock, observeQueue, onError, workers, work, ...retries };
    const queue = running.use(new WorkQueue(options));
    running.use(followServices({ ...this.#parts, selectors: this.#selectors, changed: (key) => queue.add(key) }));
    running.use(this.#stored.follow((service) => queue.addAfter(service, sliceCheckMs)));
    running.use(observer.observeTotals(() => this.#counts.totals()));
    return running;
  }

  async #sync(key: string): Promise<void> {
    await this.#slice.pass();
    await measuredSync(this.#parts, (compared) => this.#look(key, compared));
  }

  async #look(key: string, compared: (outcome: SliceOutcome) => void): Promise<void> {
    const { services, pods } = this.#parts;
    const [namespace = "", name = ""] = key.split("/");
    const service = services.current(namespace, name) as Service | undefined;
    const selector = selectorOf(service);
    this.#selectors.set(namespace, name, selector);
    if (service === undefined) {
      // The garbage collector removes the slices.
      this.#times.delete(key);
      this.#counts.delete(key);
    }
    if (service === undefined || selector === undefined) return;
    const selected = await selectedPods(namespace, selector, { pods, slice: this.#slice, read: endpointPodOf });
    const existing = this.#stored.of(namespace, name);
    const plan = planServiceSlices({ service, pods: selected, existing, node: (node) => this.#node(node) });
    const since = this.#times.next(key, service, selected);
    const trafficDistribution = distributionOf(service);
    const { create, update, remove, added, removed, desired } = plan;
    const changes = create.length + update.length + remove.length;
    compared({ added, updated: 0, removed, skipped: 0, changes, trafficDistribution });
    const slices = existing.length + create.length - remove.length;
    this.#counts.set(key, { slices, endpoints: desired, trafficDistribution });
    await this.#write(service, plan, since);
  }

  async #write(service: Service, plan: ServiceSlicesPlan, since: string | undefined): Promise<void> {
    const { slices, observer, record } = this.#parts;
    const { namespace = "", name = "", deletionTimestamp } = service.metadata;
    const owner = `Service ${namespace}/${name}`;
    const stamped = (slice: EndpointSlice) => withTriggerTime(slice, since);
    const changes = { create: plan.create.map(stamped), update: plan.update.map(stamped), remove: plan.remove };
    const changed = observer.changed.bind(observer);
    try {
      await writeSlices(changes, { slices, owner, changed, mayCreate: deletionTimestamp === undefined });
      refuseHomeless(plan, owner);
    } catch (error) {
      if (!(error instanceof RetryError)) throw error;
      const message = `Error updating Endpoint Slices for ${owner}: ${error.message}`;
      record(service, { type: "Warning", reason: "FailedToUpdateEndpointSlices", message });
      throw error;
    }
  }

  #node(name: string): EndpointNode | undefined {
    const { nodes, store } = this.#parts;
    const entry = name === "" ? undefined : store.get(nodes.keyOf("", name));
    return entry && { zone: entry.index.labels?.[zoneLabel] || undefined };
  }
}

/** Requests another attempt if pods were left out because their node is missing. It may be created later. */
function refuseHomeless({ homeless }: ServiceSlicesPlan, owner: string): void {
  if (homeless.length === 0) return;
  const texts = homeless.map(({ name, nodeName }) => `skipping Pod ${name} for ${owner}: Node ${nodeName} Not Found`);
  throw new RetryError(texts.length === 1 ? (texts[0] ?? "") : `[${texts.join(", ")}]`);
}

function distributionOf({ spec }: Service): string {
  const { trafficDistribution = "" } = spec ?? {};
  return trafficPreference(trafficDistribution) === "none" ? "" : trafficDistribution;
}
