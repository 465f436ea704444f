import type { Key } from "../../api/entry.ts";
import type { Clock } from "../../process/clock.ts";

/** Time after which the condition reports remaining instances. */
export const deletionMsMax = 60_000;

/** Finds deletions of definitions that take too long. */
export class LateDeletions {
  readonly #clock: Pick<Clock, "steadyMs">;
  /** For each definition, the time since which its instances have been expected to go. */
  readonly #sinceMs = new Map<Key, number>();

  constructor(clock: Pick<Clock, "steadyMs">) {
    this.#clock = clock;
  }

  /** Returns true once per period if the definition's instances are not gone. */
  isLate(key: Key): boolean {
    const nowMs = this.#clock.steadyMs();
    const sinceMs = this.#sinceMs.get(key) ?? nowMs;
    const isLate = nowMs - sinceMs >= deletionMsMax;
    this.#sinceMs.set(key, isLate ? nowMs : sinceMs);
    return isLate;
  }

  forget(key: Key): void {
    this.#sinceMs.delete(key);
  }
}
