import type { Clock } from "../process/clock.ts";

const retriesPerSecond = 10;
/** So many may come at once after a quiet time. */
const burst = 100;

/** Spreads the retries of one queue: when everything fails at once, not everything is tried again at once. */
export class RetryBudget {
  readonly #clock: Clock;
  /** The time of the last retry that was handed out, if all of them were evenly spread. */
  #dueMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes one retry out of the budget, and says how long it has to wait. */
  take(): number {
    const nowMs = this.#clock.steadyMs();
    const intervalMs = 1_000 / retriesPerSecond;
    this.#dueMs = Math.max(this.#dueMs, nowMs - burst * intervalMs) + intervalMs;
    return Math.max(0, this.#dueMs - nowMs);
  }
}
