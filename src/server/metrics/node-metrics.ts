import type { Registry } from "prom-client";
import type { CidrSetObserver } from "../../controllers/nodes/cidr-set.ts";
import type { NodeObservers } from "../../controllers/nodes/node-controllers.ts";
import type { PodGarbageObserver } from "../../controllers/nodes/pod-garbage.ts";
import type { ZoneReadiness } from "../../controllers/nodes/zone-disruption.ts";
import { BoundCounter, BoundHistogram, CollectedFamily, childrenBy } from "./bound-metric.ts";
import { boundSeries } from "./bound-series.ts";
import type { Sample } from "./exposition.ts";

/** Upstream's bounds: from a millisecond and from ten milliseconds upwards, each four times the one before. */
const nodeBuckets = Array.from({ length: 8 }, (_, at) => 0.001 * 4 ** at);
const allNodesBuckets = Array.from({ length: 8 }, (_, at) => 0.01 * 4 ** at);
const evictionBuckets = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 60, 120, 180, 240];

/** Registers the metrics of the controllers of nodes; returns their observer. */
export function nodeMetrics(registry: Registry): NodeObservers {
  return {
    lifecycle: lifecycleMetrics(registry),
    evicted: evictionMetrics(registry),
    podGarbage: podGarbageMetrics(registry),
    cidrs: cidrMetrics(registry),
  };
}

function evictionMetrics(registry: Registry): (seconds: number) => void {
  const deletions = new BoundCounter(
    "taint_eviction_controller_pod_deletions_total",
    "Pods that were deleted because of a taint of their node.",
  );
  const delays = new BoundHistogram(
    "taint_eviction_controller_pod_deletion_duration_seconds",
    "Delay between the due time of a pod's eviction and its deletion.",
    evictionBuckets,
  );
  for (const family of [deletions, delays]) family.register(registry);
  const [total, delay] = [deletions.labels({}), delays.labels({})];
  return (seconds) => {
    total.value++;
    delay.observe(seconds);
  };
}

function cidrMetrics(registry: Registry): CidrSetObserver {
  const prefix = "node_ipam_controller";
  const allocations = new BoundCounter(`${prefix}_cidrset_cidrs_allocations_total`, "Parts that nodes got or had.");
  const releases = new BoundCounter(`${prefix}_cidrset_cidrs_releases_total`, "Parts that came back.");
  const maxima = new BoundCounter(`${prefix}_cirdset_max_cidrs`, "Parts of each range.", "gauge");
  const usage = new BoundCounter(`${prefix}_cidrset_usage_cidrs`, "Share of each range that is in use.", "gauge");
  const tries = new BoundHistogram(
    `${prefix}_cidrset_allocation_tries_per_request`,
    "Parts in use that were passed over to find a free one.",
    [1, 5, 25, 125, 625],
  );
  for (const family of [allocations, releases, maxima, usage, tries]) family.register(registry);
  const metricsOf = childrenBy((clusterCIDR: string) => ({
    allocations: allocations.labels({ clusterCIDR }),
    releases: releases.labels({ clusterCIDR }),
    maximum: maxima.labels({ clusterCIDR }),
    usage: usage.labels({ clusterCIDR }),
    tries: tries.labels({ clusterCIDR }),
  }));
  return {
    opened(range, size) {
      metricsOf(range).maximum.value = size;
      metricsOf(range).usage.value = 0;
    },
    allocated(range, used, passedOver) {
      const { maximum, ...metrics } = metricsOf(range);
      metrics.allocations.value++;
      metrics.usage.value = used / maximum.value;
      metrics.tries.observe(passedOver);
    },
    released(range, used) {
      const { maximum, ...metrics } = metricsOf(range);
      metrics.releases.value++;
      metrics.usage.value = used / maximum.value;
    },
  };
}

function podGarbageMetrics(registry: Registry): PodGarbageObserver {
  const deletions = new BoundCounter("pod_gc_collector_force_delete_pods_total", "Pods that were deleted by force.");
  const failures = new BoundCounter(
    "pod_gc_collector_force_delete_pod_errors_total",
    "Pods that could not be deleted by force.",
  );
  const [deletionsOf, failuresOf] = [deletions, failures].map((family) => {
    family.register(registry);
    const childOf = boundSeries((labels) => family.labels(labels), ["namespace"]);
    return (namespace: string, reason: string) => void childOf({ namespace, reason }).value++;
  });
  return {
    deleting: (namespace, reason) => deletionsOf?.(namespace, reason),
    failed: (namespace, reason) => failuresOf?.(namespace, reason),
  };
}

function lifecycleMetrics(registry: Registry): NonNullable<NodeObservers["lifecycle"]> {
  let zones: ReadonlyMap<string, ZoneReadiness> = new Map();
  const gauge = (name: string, help: string, read: (zone: ZoneReadiness) => number) => {
    const collect = function* (): Generator<Sample> {
      for (const [zone, readiness] of zones) yield [{ zone }, read(readiness)];
    };
    new CollectedFamily(`node_collector_${name}`, help, "gauge", collect).register(registry);
  };
  gauge("zone_size", "Nodes of each zone.", ({ ready, notReady }) => ready + notReady);
  gauge("zone_health", "Percentage of the nodes of each zone that are ready.", ({ ready, notReady }) =>
    ready + notReady === 0 ? 100 : (100 * ready) / (ready + notReady),
  );
  gauge("unhealthy_nodes_in_zone", "Nodes of each zone that are not ready.", ({ notReady }) => notReady);
  const evictions = new BoundCounter(
    "node_collector_evictions_total",
    "Nodes that were tainted so that their pods are evicted.",
  );
  const checks = new BoundHistogram(
    "node_collector_update_node_health_duration_seconds",
    "Time to check the health of one node.",
    nodeBuckets,
  );
  const rounds = new BoundHistogram(
    "node_collector_update_all_nodes_health_duration_seconds",
    "Time to check the health of all nodes.",
    allNodesBuckets,
  );
  for (const family of [evictions, checks, rounds]) family.register(registry);
  // Nodes may name their zone themselves.
  const evictionsIn = boundSeries((labels) => evictions.labels(labels), ["zone"]);
  const [check, round] = [checks.labels({}), rounds.labels({})];
  return {
    zoneAdded: (zone) => void evictionsIn({ zone }),
    zones(counted) {
      zones = counted;
    },
    evicted: (zone) => void evictionsIn({ zone }).value++,
    checkedNode: (seconds) => check.observe(seconds),
    checkedAll: (seconds) => round.observe(seconds),
  };
}
