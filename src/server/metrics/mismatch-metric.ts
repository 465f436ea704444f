import type { Registry } from "prom-client";
import { BoundCounter } from "./bound-metric.ts";

/**
 * Registers what is counted of declared rules; returns a function that counts a problem that only one of the two kinds
 * of rules found. Rules that are data cannot panic, so the other counter stays at zero.
 */
export function countMismatches(registry: Registry): () => void {
  const prefix = "apiserver_validation_declarative_validation";
  const mismatches = new BoundCounter(
    `${prefix}_mismatch_total`,
    "Problems with objects that only declared rules found, or only rules written by hand.",
  );
  const panics = new BoundCounter(`${prefix}_panic_total`, "Declared rules that could not be evaluated.");
  for (const family of [mismatches, panics]) family.register(registry);
  panics.labels({});
  const total = mismatches.labels({});
  return () => void total.value++;
}
