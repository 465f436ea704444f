import type { Endpoints, Service } from "../../api/types/core-v1.ts";
import type { EndpointSlice } from "../../api/types/discovery-v1.ts";
import type { Clock } from "../../process/clock.ts";
import { TurnSlice } from "../../process/turn-slice.ts";
import type { Registry } from "../../registry/registry.ts";
import type { Store } from "../../storage/store.ts";
import type { RecordEvent } from "../events/record-event.ts";
import { followObjects } from "../follow-objects.ts";
import { type QueueSource, WorkQueue } from "../work-queue.ts";
import { leaderAnnotation } from "./endpoints-controller.ts";
import { measuredSync } from "./measured-sync.ts";
import { type MirrorPlan, mirroredAddressesMax, mirrorSliceManager, planMirror } from "./mirror-plan.ts";
import { hasSelector } from "./service-facts.ts";
import { SliceCounts } from "./slice-counts.ts";
import type { SliceObserver } from "./slice-observer.ts";
import { writeSlices } from "./slice-writes.ts";
import { StoredSlices } from "./stored-slices.ts";

const skipMirrorLabel = "endpointslice.kubernetes.io/skip-mirror";
const workers = 5;
const failuresMax = 15;
const retryMsMin = 1_000;
const retryMsMax = 100_000;

export interface EndpointMirroringParts extends QueueSource {
  readonly services: Registry;
  readonly endpoints: Registry;
  readonly slices: Registry;
  readonly store: Store;
  readonly clock: Clock;
  readonly record: RecordEvent;
  readonly observer: SliceObserver;
  readonly onError: (error: unknown) => void;
}

/** Mirrors Endpoints that users maintain for services without selectors into EndpointSlices. */
export class EndpointMirroring {
  readonly #parts: EndpointMirroringParts;
  readonly #stored: StoredSlices;
  readonly #counts = new SliceCounts(mirroredAddressesMax);
  readonly #slice = new TurnSlice();

  constructor(parts: EndpointMirroringParts) {
    this.#parts = parts;
    this.#stored = new StoredSlices(parts.slices, parts.store, mirrorSliceManager);
  }

  start(): Disposable {
    const { store, clock, services, endpoints, observer, observeQueue, onError } = this.#parts;
    const running = new DisposableStack();
    const work = (key: string) => this.#sync(key);
    const retries = { failuresMax, retryMsMin, retryMsMax };
    const options = { name: "endpoint_slice_mirroring", clock, observeQueue, onError, workers, work, ...retries };
    const queue = running.use(new WorkQueue(options));
    for (const { keyPrefix } of [services.info, endpoints.info]) {
      running.use(followObjects(store, keyPrefix, (key) => queue.add(key.slice(keyPrefix.length))));
    }
    running.use(this.#stored.follow((service) => queue.add(service)));
    running.use(observer.observeTotals(() => this.#counts.totals()));
    return running;
  }

  async #sync(key: string): Promise<void> {
    await this.#slice.pass();
    const [namespace = "", name = ""] = key.split("/");
    const endpoints = this.#mirrored(namespace, name);
    const existing = this.#stored.of(namespace, name);
    if (endpoints === undefined) {
      this.#counts.delete(key);
      if (existing.length === 0) return;
    }
    await measuredSync(this.#parts, async (compared) => {
      const plan = endpoints === undefined ? nothing(existing) : planMirror(endpoints, existing);
      const { create, update, remove, added, updated, removed, skipped, desired } = plan;
      const changes = create.length + update.length + remove.length;
      compared({ added, updated, removed, skipped, changes, trafficDistribution: "" });
      if (endpoints !== undefined) {
        const slices = existing.length + create.length - remove.length;
        this.#counts.set(key, { slices, endpoints: desired, trafficDistribution: "" });
        this.#reportSkipped(endpoints, plan);
      }
      await writeSlices(plan, {
        slices: this.#parts.slices,
        owner: `Endpoints ${namespace}/${name}`,
        mayCreate: endpoints?.metadata.deletionTimestamp === undefined,
        changed: (operation) => this.#parts.observer.changed(operation),
      });
    });
  }

  /** Returns the Endpoints, unless they must not be mirrored or the service has slices of its own. */
  #mirrored(namespace: string, name: string): Endpoints | undefined {
    const { endpoints, services } = this.#parts;
    const found = endpoints.current(namespace, name) as Endpoints | undefined;
    const { labels, annotations } = found?.metadata ?? {};
    if (labels?.[skipMirrorLabel] === "true" || annotations?.[leaderAnnotation] !== undefined) return undefined;
    const service = services.current(namespace, name) as Service | undefined;
    return service === undefined || hasSelector(service) ? undefined : found;
  }

  #reportSkipped(endpoints: Endpoints, { invalid, skipped }: MirrorPlan): void {
    const warn = (reason: string, message: string) => {
      this.#parts.record(endpoints, { type: "Warning", reason, message });
    };
    if (invalid > 0) {
      warn("InvalidIPAddress", `Skipped ${invalid} invalid IP addresses when mirroring to EndpointSlices`);
    }
    if (skipped <= invalid) return;
    const limit = `A max of ${mirroredAddressesMax} addresses can be mirrored to EndpointSlices per Endpoints subset.`;
    warn("TooManyAddressesToMirror", `${limit} ${skipped} addresses were skipped`);
  }
}

/** Removes all mirrored slices. */
function nothing(existing: EndpointSlice[]): MirrorPlan {
  const counts = { added: 0, updated: 0, removed: 0, invalid: 0, skipped: 0, desired: [] };
  return { create: [], update: [], remove: existing, ...counts };
}
