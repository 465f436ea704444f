import type { Key } from "../../api/entry.ts";
import type { Clock } from "../../process/clock.ts";

/** Time after which the condition says that instances are still there. */
export const deletionMsMax = 60_000;

/** Tells which deletions of definitions take too long. */
export class LateDeletions {
  readonly #clock: Pick<Clock, "steadyMs">;
  /** Time since which instances of each definition are awaited to go. */
  readonly #sinceMs = new Map<Key, number>();

  constructor(clock: Pick<Clock, "steadyMs">) {
    this.#clock = clock;
  }

  /** Reports once in each period that the instances of a definition have not gone. */
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
