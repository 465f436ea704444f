import type { Registry } from "prom-client";
import { BoundCounter } from "./bound-metric.ts";

/** Registers the metrics of the garbage collector; returns a function that counts a kind that could not be read. */
export function garbageCollectorMetrics(registry: Registry): () => void {
  const errors = new BoundCounter(
    "garbagecollector_controller_resources_sync_error_total",
    "Kinds whose objects the garbage collector could not read.",
  );
  errors.register(registry);
  const total = errors.labels({});
  return () => void total.value++;
}
