import type { Registry } from "prom-client";
import { BoundHistogram } from "./bound-metric.ts";

/** Upstream's bounds: from 100 ms upwards, each twice the one before. */
const buckets = Array.from({ length: 14 }, (_, at) => 0.1 * 2 ** at);

/** Registers how late finished Jobs are deleted; returns a function that records it. */
export function finishedJobMetrics(registry: Registry): (seconds: number) => void {
  const delays = new BoundHistogram(
    "ttl_after_finished_controller_job_deletion_duration_seconds",
    "Delay between the due time of a finished Job's deletion and the deletion.",
    buckets,
  );
  delays.register(registry);
  const delay = delays.labels({});
  return (seconds) => delay.observe(seconds);
}
