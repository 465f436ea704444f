import type { EvictionThresholds, Threshold } from "../node/eviction-thresholds.ts";
import type { EvictionSignal } from "../node/machine.ts";

/** A threshold, and how the agent reacts when a supply has fallen below it. */
export interface EvictionLimit {
  readonly signal: EvictionSignal;
  readonly threshold: Threshold;
  /** Time for which the supply has to be short before pods are evicted; 0 for a hard limit. */
  readonly graceMs: number;
  /** Amount above the threshold that has to be free before evictions end. */
  readonly reclaim: Threshold | undefined;
}

export interface EvictionSettings {
  readonly limits: readonly EvictionLimit[];
  /** Time without a shortage after which its condition ends. */
  readonly transitionMs: number;
  /** Longest grace period of a pod that a soft limit evicts. */
  readonly podGraceSecondsMax: number;
}

/** Upstream's default. */
export const evictionTransitionMsDefault = 300_000;

/**
 * Returns all limits.
 * @throws Error if a soft limit has no grace period
 */
export function evictionLimits({
  hard,
  soft = new Map(),
  graceMs = new Map(),
  reclaim = new Map(),
}: {
  readonly hard: EvictionThresholds;
  readonly soft?: EvictionThresholds;
  readonly graceMs?: ReadonlyMap<EvictionSignal, number>;
  readonly reclaim?: EvictionThresholds;
}): EvictionLimit[] {
  const limitOf = (signal: EvictionSignal, threshold: Threshold, wait: number): EvictionLimit => ({
    signal,
    threshold,
    graceMs: wait,
    reclaim: reclaim.get(signal),
  });
  return [
    ...[...hard].map(([signal, threshold]) => limitOf(signal, threshold, 0)),
    ...[...soft].map(([signal, threshold]) => {
      const wait = graceMs.get(signal);
      if (wait === undefined) {
        throw new Error(`grace period must be specified for the soft eviction threshold ${signal}`);
      }
      return limitOf(signal, threshold, wait);
    }),
  ];
}
