import type { Registry } from "prom-client";
import { BoundCounter } from "./bound-metric.ts";

/**
 * Registers the metrics of declared rules; returns a function that counts a problem that only the declared or only the
 * hand-written rules found. Rules are data and cannot panic, so the other counter stays at zero.
 */
export function countMismatches(registry: Registry): () => void {
  const prefix = "apiserver_validation_declarative_validation";
  const mismatches = new BoundCounter(
    `${prefix}_mismatch_total`,
    "Validation problems that only the declared rules or only the hand-written rules found.",
  );
  const panics = new BoundCounter(`${prefix}_panic_total`, "Failed evaluations of declared rules.");
  for (const family of [mismatches, panics]) family.register(registry);
  panics.labels({});
  const total = mismatches.labels({});
  return () => void total.value++;
}
