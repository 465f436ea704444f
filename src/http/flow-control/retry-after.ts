const retryAfterMaxSeconds = 32;

/**
 * The number of seconds after which a refused client should retry. It doubles while many requests are refused, and
 * decreases by one second at a time when few are.
 */
export class RetryAfter {
  #seconds = 1;
  #raisedAt = 0;
  /** Number of refusals in each of the last seconds, oldest first. */
  #refusals: { readonly second: number; count: number }[] = [];

  get seconds(): number {
    return this.#seconds;
  }

  /** Counts a refused request. Returns the number of seconds that its client should wait. */
  refused(nowMs: number): number {
    const second = Math.floor(nowMs / 1000);
    const last = this.#refusals.at(-1);
    if (last?.second === second) {
      last.count++;
      return this.#seconds;
    }
    this.#adjust(second);
    this.#refusals.push({ second, count: 1 });
    return this.#seconds;
  }

  #adjust(second: number): void {
    const recent = this.#refusals.filter((each) => each.second >= second - this.#seconds);
    const count = recent.reduce((sum, each) => sum + each.count, 0);
    if (count >= 3 * this.#seconds && second - this.#raisedAt >= this.#seconds) {
      this.#seconds = Math.min(2 * this.#seconds, retryAfterMaxSeconds);
      this.#raisedAt = second;
    } else if (count < this.#seconds && this.#seconds > 1) {
      this.#seconds--;
    }
    this.#refusals = this.#refusals.filter((each) => each.second >= second - retryAfterMaxSeconds);
  }
}
