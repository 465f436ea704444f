import type { Clock } from "../process/clock.ts";

const retriesPerSecond = 10;
/** Number of retries that may come at once after a quiet time. */
const burst = 100;

/** Spreads the retries of one queue, so that after many failures not everything is retried at once. */
export class RetryBudget {
  readonly #clock: Clock;
  /** The time of the last retry, if all retries had been evenly spread. */
  #dueMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes one retry from the budget, and returns how long it must wait. */
  take(): number {
    const nowMs = this.#clock.steadyMs();
    const intervalMs = 1_000 / retriesPerSecond;
    this.#dueMs = Math.max(this.#dueMs, nowMs - burst * intervalMs) + intervalMs;
    return Math.max(0, this.#dueMs - nowMs);
  }
}
