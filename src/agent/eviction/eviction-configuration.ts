import type { JsonObject } from "../../api/json.ts";
import type { Threshold } from "../node/eviction-thresholds.ts";
import type { EvictionLimit, EvictionSettings } from "./eviction-limits.ts";

/** Significant digits of a percentage, fewer than a number can hold. */
const percentDigits = 12;

/** Returns the settings with the names of kubelet's configuration. */
export function evictionConfiguration({ limits, transitionMs, podGraceSecondsMax }: EvictionSettings): JsonObject {
  const hard = limits.filter(({ graceMs }) => graceMs === 0);
  const soft = limits.filter(({ graceMs }) => graceMs > 0);
  const texts = (some: readonly EvictionLimit[], textOf: (limit: EvictionLimit) => string | undefined) =>
    Object.fromEntries(some.map((limit) => [limit.signal, textOf(limit)]).filter(([, text]) => text !== undefined));
  return {
    evictionHard: texts(hard, ({ threshold }) => thresholdText(threshold)),
    evictionSoft: texts(soft, ({ threshold }) => thresholdText(threshold)),
    evictionSoftGracePeriod: texts(soft, ({ graceMs }) => `${graceMs / 1_000}s`),
    evictionMinimumReclaim: texts(limits, ({ reclaim }) => reclaim && thresholdText(reclaim)),
    evictionMaxPodGracePeriod: podGraceSecondsMax,
    evictionPressureTransitionPeriod: `${transitionMs / 1_000}s`,
  };
}

function thresholdText(threshold: Threshold): string {
  if (threshold.kind === "amount") return String(threshold.amount);
  // 0.07 * 100 is 7.000000000000001.
  return `${Number((threshold.fraction * 100).toPrecision(percentDigits))}%`;
}
