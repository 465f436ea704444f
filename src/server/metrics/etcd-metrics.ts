import type { Registry } from "prom-client";
import { BoundHistogram, CollectedFamily } from "./bound-metric.ts";

const objectBuckets = [10, 50, 100, 500, 1_000, 2_500, 5_000];

/** Measurements of etcd that begin before the server can publish them. */
export class EtcdMetrics {
  /** Sizes of databases in bytes, by the names that upstream's dashboards have for etcds. */
  readonly sizes = new Map<string, number>();
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
      [...this.sizes].map(([id, bytes]) => [{ storage_cluster_id: id }, bytes]),
    ).register(registry);
  }
}
