import type { Registry } from "prom-client";
import type { SliceObserver, SliceTotals } from "../../controllers/endpoints/slice-observer.ts";
import { BoundCounter, BoundHistogram, CollectedFamily, childrenBy } from "./bound-metric.ts";
import { boundSeries } from "./bound-series.ts";

const countBuckets = Array.from({ length: 15 }, (_, at) => 2 ** (at + 1));
const changeBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const durationBuckets = Array.from({ length: 15 }, (_, at) => 0.001 * 2 ** at);

/** Observers of the two controllers of EndpointSlices. */
export interface SliceObservers {
  readonly services: SliceObserver;
  readonly mirrors: SliceObserver;
}

/** Registers the metrics of EndpointSlices, under the names of kube-controller-manager. */
export function sliceMetrics(registry: Registry): SliceObservers {
  return { services: serviceMetrics(registry), mirrors: mirrorMetrics(registry) };
}

function serviceMetrics(registry: Registry): SliceObserver {
  const prefix = "endpoint_slice_controller";
  const common = commonMetrics(registry, prefix, "Service");
  const syncs = new BoundCounter(`${prefix}_syncs`, "Syncs of the EndpointSlices of a Service.");
  const changes = new BoundHistogram(
    `${prefix}_endpointslices_changed_per_sync`,
    "EndpointSlices that a sync of a Service changed.",
    changeBuckets,
  );
  for (const family of [syncs, changes]) family.register(registry);
  const byDistribution = function* () {
    for (const [distribution, count] of common.totals()?.distributions ?? []) {
      yield [{ traffic_distribution: distribution }, count] as const;
    }
  };
  const help = "Services by their traffic distribution.";
  new CollectedFamily(`${prefix}_services_count_by_traffic_distribution`, help, "gauge", byDistribution).register(
    registry,
  );
  const syncsOf = childrenBy((result: "success" | "error") => syncs.labels({ result }));
  const changesOf = boundSeries((labels) => changes.labels(labels));
  return {
    ...common,
    synced({ result, outcome }) {
      syncsOf(result).value++;
      if (outcome === undefined) return;
      common.count(outcome);
      const labels = { topology: "Disabled", traffic_distribution: outcome.trafficDistribution };
      changesOf(labels).observe(outcome.changes);
    },
  };
}

function mirrorMetrics(registry: Registry): SliceObserver {
  const prefix = "endpoint_slice_mirroring_controller";
  const common = commonMetrics(registry, prefix, "Endpoints");
  const updated = new BoundHistogram(
    `${prefix}_endpoints_updated_per_sync`,
    "Endpoints that a sync of Endpoints updated.",
    countBuckets,
  );
  const skipped = new BoundHistogram(
    `${prefix}_addresses_skipped_per_sync`,
    "Addresses that a sync of Endpoints left out because they are invalid or too many.",
    countBuckets,
  );
  const durations = new BoundHistogram(
    `${prefix}_endpoints_sync_duration`,
    "Duration of a sync of Endpoints in seconds.",
    durationBuckets,
  );
  const [updates, skips, times] = [updated, skipped, durations].map((family) => {
    family.register(registry);
    return family.labels({});
  });
  return {
    ...common,
    synced({ seconds, outcome }) {
      times?.observe(seconds);
      if (outcome === undefined) return;
      common.count(outcome);
      updates?.observe(outcome.updated);
      skips?.observe(outcome.skipped);
    },
  };
}

/** @param source kind of the objects for which the slices are made */
function commonMetrics(registry: Registry, prefix: string, source: string) {
  const added = new BoundHistogram(
    `${prefix}_endpoints_added_per_sync`,
    `Endpoints that a sync of a ${source} added.`,
    countBuckets,
  );
  const removed = new BoundHistogram(
    `${prefix}_endpoints_removed_per_sync`,
    `Endpoints that a sync of a ${source} removed.`,
    countBuckets,
  );
  const changes = new BoundCounter(`${prefix}_changes`, "Changes of EndpointSlices.");
  for (const family of [added, removed, changes]) family.register(registry);
  const [additions, removals] = [added.labels({}), removed.labels({})];
  const changesOf = childrenBy((operation: "create" | "update" | "delete") => changes.labels({ operation }));
  let read: (() => SliceTotals) | undefined;
  const gauge = (name: string, help: string, value: (totals: SliceTotals) => number) => {
    const collect = function* () {
      const totals = read?.();
      if (totals !== undefined) yield [{}, value(totals)] as const;
    };
    new CollectedFamily(`${prefix}_${name}`, help, "gauge", collect).register(registry);
  };
  gauge("endpoints_desired", "Endpoints that should be in slices.", ({ endpoints }) => endpoints);
  gauge("num_endpoint_slices", "EndpointSlices.", ({ slices }) => slices);
  gauge("desired_endpoint_slices", "EndpointSlices that there would be if all were full.", (t) => t.slicesNeeded);
  return {
    totals: () => read?.(),
    count(outcome: { readonly added: number; readonly removed: number }) {
      additions.observe(outcome.added);
      removals.observe(outcome.removed);
    },
    changed(operation: "create" | "update" | "delete") {
      changesOf(operation).value++;
    },
    observeTotals(next: () => SliceTotals): Disposable {
      read = next;
      return {
        [Symbol.dispose]: () => {
          if (read === next) read = undefined;
        },
      };
    },
  };
}
