/** Waits between attempts. They double with each failure up to a limit, and vary so that many clients do not return at once. */
export class Backoff {
  readonly #minMs: number;
  readonly #maxMs: number;
  readonly #random: () => number;
  #nextMs: number;

  /** @param random in [0, 1) */
  constructor(minMs: number, maxMs: number, random: () => number) {
    this.#minMs = this.#nextMs = minMs;
    this.#maxMs = maxMs;
    this.#random = random;
  }

  /** Returns the wait before the next attempt: one to two times the current one, and at most the limit. */
  next(): number {
    const waitMs = Math.min(this.#maxMs, this.#nextMs * (1 + this.#random()));
    this.#nextMs = Math.min(this.#maxMs, 2 * this.#nextMs);
    return waitMs;
  }

  reset(): void {
    this.#nextMs = this.#minMs;
  }
}
