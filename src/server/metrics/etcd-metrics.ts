import type { Registry } from "prom-client";
import { BoundHistogram, CollectedFamily } from "./bound-metric.ts";

/** The name of the etcd on upstream's dashboards. */
const clusterId = "etcd-0";
const objectBuckets = [10, 50, 100, 500, 1_000, 2_500, 5_000];

/** Measurements of etcd that begin before the server can publish them. */
export class EtcdMetrics {
  /** Size of the database in bytes; undefined until etcd has told it. */
  size: number | undefined;
  readonly #leaseObjects = new BoundHistogram(
    "etcd_lease_object_counts",
    "Number of objects attached to a single etcd lease.",
    objectBuckets,
  );
  readonly #leases = this.#leaseObjects.labels({});

  leaseFull(objects: number): void {
    this.#leases.observe(objects);
  }

  register(registry: Registry): void {
    this.#leaseObjects.register(registry);
    new CollectedFamily("apiserver_storage_size_bytes", "Size of the database in etcd.", "gauge", () =>
      this.size === undefined ? [] : [[{ storage_cluster_id: clusterId }, this.size]],
    ).register(registry);
  }
}
