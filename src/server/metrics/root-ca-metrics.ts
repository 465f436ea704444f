import type { Registry } from "prom-client";
import type { SyncObserver } from "../../controllers/namespace-objects.ts";
import { BoundCounter, BoundHistogram } from "./bound-metric.ts";
import { boundSeries } from "./bound-series.ts";

/** Upstream's bounds: from a millisecond upwards, each twice the one before. */
const buckets = Array.from({ length: 15 }, (_, at) => 0.001 * 2 ** at);

/** Registers the metrics of the published authority; returns the observer of its syncs. */
export function rootCaMetrics(registry: Registry): SyncObserver {
  const prefix = "root_ca_cert_publisher";
  const syncs = new BoundCounter(`${prefix}_sync_total`, "Syncs of the published authority of a namespace.");
  const help = "Duration of a sync of the published authority of a namespace in seconds.";
  const durations = new BoundHistogram(`${prefix}_sync_duration_seconds`, help, buckets);
  for (const family of [syncs, durations]) family.register(registry);
  const syncsOf = boundSeries((labels) => syncs.labels(labels), ["code"]);
  const durationsOf = boundSeries((labels) => durations.labels(labels), ["code"]);
  return (code, seconds) => {
    syncsOf({ code: String(code) }).value++;
    durationsOf({ code: String(code) }).observe(seconds);
  };
}
