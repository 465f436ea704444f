import type { Registry } from "prom-client";
import type { GroupResource } from "../../api/gvk.ts";
import type { StoreObserver, StoreOperation } from "../../registry/store-observer.ts";
import { BoundCounter, BoundHistogram, childrenBy } from "./bound-metric.ts";

const durationBuckets = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];

/** Registers the metrics of writes to the store, under upstream's names for requests to etcd. */
export function storeRequestMetrics(registry: Registry): (resource: GroupResource) => StoreObserver {
  const durations = new BoundHistogram(
    "etcd_request_duration_seconds",
    "Duration of writes to the store.",
    durationBuckets,
  );
  const requests = new BoundCounter("etcd_requests_total", "Writes to the store.");
  const errors = new BoundCounter("etcd_request_errors_total", "Writes to the store that failed.");
  for (const family of [durations, requests, errors]) family.register(registry);
  const observerOf = childrenBy((key: string): StoreObserver => {
    const [group = "", resource = ""] = key.split("/");
    const children = childrenBy((operation: StoreOperation) => {
      const labels = { operation, group, resource };
      return {
        duration: durations.labels(labels),
        requests: requests.labels(labels),
        errors: childrenBy(() => errors.labels(labels)),
      };
    });
    return {
      written(operation, seconds, hasFailed) {
        const child = children(operation);
        child.duration.observe(seconds);
        child.requests.value++;
        if (hasFailed) child.errors("").value++;
      },
    };
  });
  // All versions of a kind share one observer.
  return ({ group, resource }) => observerOf(`${group}/${resource}`);
}
