import type { Registry } from "prom-client";
import { CollectedFamily } from "./bound-metric.ts";

/** Registers the number of serving processes that accept requests. */
export function servingMetrics(registry: Registry, ready: () => number): void {
  new CollectedFamily(
    "quorate_serving_processes_ready",
    "Further processes of this server that accept requests.",
    "gauge",
    () => [[{}, ready()]],
  ).register(registry);
}
