import { amountOf, type Pressure, pressureOf } from "../node/eviction-thresholds.ts";
import type { MachineUsage, Supply } from "../node/machine.ts";
import type { EvictionLimit, EvictionSettings } from "./eviction-limits.ts";

/** A supply that is short. */
export interface Shortage extends Supply {
  readonly limit: EvictionLimit;
}

/**
 * Remembers since when supplies are short. A condition lasts for a while after its cause, so that a node at the limit is
 * not filled and emptied in turn.
 */
export class NodePressure {
  readonly #settings: EvictionSettings;
  /** Time by the steady clock at which each limit was first passed, without a recovery since. */
  readonly #sinceMs = new Map<EvictionLimit, number>();
  /** Limits to which the agent reacts, until enough is free again. */
  #due = new Set<EvictionLimit>();
  /** Time by the steady clock at which each pressure was last seen. */
  readonly #seenMs = new Map<Pressure, number>();

  constructor(settings: EvictionSettings) {
    this.#settings = settings;
  }

  /** The pressures of the node, which its conditions show. */
  get pressures(): ReadonlySet<Pressure> {
    return new Set(this.#seenMs.keys());
  }

  /** Records what was measured. Returns the shortages that have lasted for their grace period. */
  observe(usage: MachineUsage, steadyMs: number): readonly Shortage[] {
    const { limits, transitionMs } = this.#settings;
    const due: Shortage[] = [];
    for (const limit of limits) {
      const supply = usage[limit.signal];
      if (supply === undefined || !isShort(limit, supply, this.#due.has(limit))) {
        this.#sinceMs.delete(limit);
        continue;
      }
      const sinceMs = this.#sinceMs.get(limit) ?? steadyMs;
      this.#sinceMs.set(limit, sinceMs);
      this.#seenMs.set(pressureOf[limit.signal], steadyMs);
      if (steadyMs - sinceMs >= limit.graceMs) due.push({ ...supply, limit });
    }
    for (const [pressure, seenMs] of this.#seenMs) {
      if (steadyMs - seenMs >= transitionMs && seenMs !== steadyMs) this.#seenMs.delete(pressure);
    }
    this.#due = new Set(due.map(({ limit }) => limit));
    return due;
  }
}

/** Reports whether a supply is below its limit, or, once pods are evicted for it, has not recovered enough. */
export function isShort(
  { threshold, reclaim }: EvictionLimit,
  { available, capacity }: Supply,
  isDue: boolean,
): boolean {
  const more = isDue && reclaim !== undefined ? amountOf(reclaim, capacity) : 0;
  return available < amountOf(threshold, capacity) + more;
}
