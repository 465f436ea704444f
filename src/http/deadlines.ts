import type { Clock } from "../process/clock.ts";

/** A request, or the arrival of its body, with a deadline. */
export interface Deadline {
  /** By the steady clock: setting the system's time ends nothing, and extends nothing. */
  readonly endMs: number;
  expire(): void;
}

/**
 * The deadlines of many requests on one timer, set to the earliest. A request that ends in time only leaves the set. A
 * timer for each request would cost more than all filters together.
 */
export class Deadlines {
  readonly #clock: Clock;
  readonly #waiting = new Set<Deadline>();
  #timer: Disposable | undefined;
  #timerMs = Number.POSITIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls `expire` after `leftMs`, unless the deadline is deleted before. */
  add(leftMs: number, expire: () => void): Deadline {
    const deadline = { endMs: this.#clock.steadyMs() + leftMs, expire };
    this.#waiting.add(deadline);
    if (deadline.endMs < this.#timerMs) this.#arm(deadline.endMs);
    return deadline;
  }

  delete(deadline: Deadline): void {
    this.#waiting.delete(deadline);
  }

  /** A repeating timer, disposed of when it fires, because it does not keep the process alive. */
  #arm(timerMs: number): void {
    this.#timer?.[Symbol.dispose]();
    this.#timerMs = timerMs;
    const delayMs = Math.max(1, timerMs - this.#clock.steadyMs());
    this.#timer = this.#clock.every(delayMs, () => this.#fire());
  }

  #fire(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    this.#timerMs = Number.POSITIVE_INFINITY;
    const nowMs = this.#clock.steadyMs();
    let nextMs = Number.POSITIVE_INFINITY;
    for (const deadline of this.#waiting) {
      if (deadline.endMs > nowMs) {
        nextMs = Math.min(nextMs, deadline.endMs);
        continue;
      }
      this.#waiting.delete(deadline);
      deadline.expire();
    }
    if (nextMs < this.#timerMs) this.#arm(nextMs);
  }
}
