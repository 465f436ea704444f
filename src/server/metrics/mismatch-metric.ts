import type { Registry } from "prom-client";
import { BoundCounter } from "./bound-metric.ts";

/** Registers `declarative_validation_mismatch_total`: problems that only one of the two kinds of rules found. */
export function countMismatches(registry: Registry): () => void {
  const counter = new BoundCounter(
    "declarative_validation_mismatch_total",
    "Problems with objects that only declared rules found, or only rules written by hand.",
  );
  counter.register(registry);
  const total = counter.labels({});
  return () => void total.value++;
}
