/** The demand for seats during a period. */
export interface DemandSummary {
  readonly average: number;
  readonly deviation: number;
  readonly highWatermark: number;
}

/** Averages the demand for seats over time, weighted by how long each value lasted. */
export class SeatDemand {
  #value = 0;
  #sinceMs: number;
  #periodStartMs: number;
  #sum = 0;
  #squares = 0;
  #highWatermark = 0;

  constructor(nowMs: number) {
    this.#sinceMs = nowMs;
    this.#periodStartMs = nowMs;
  }

  set(value: number, nowMs: number): void {
    this.#addUp(nowMs);
    this.#value = value;
    if (value > this.#highWatermark) this.#highWatermark = value;
  }

  /** Ends the period, and starts the next one with the current value. */
  endPeriod(nowMs: number): DemandSummary {
    this.#addUp(nowMs);
    const lengthMs = nowMs - this.#periodStartMs;
    const average = lengthMs > 0 ? this.#sum / lengthMs : this.#value;
    const variance = lengthMs > 0 ? this.#squares / lengthMs - average ** 2 : 0;
    const summary = { average, deviation: Math.sqrt(Math.max(0, variance)), highWatermark: this.#highWatermark };
    this.#periodStartMs = nowMs;
    this.#sum = 0;
    this.#squares = 0;
    this.#highWatermark = this.#value;
    return summary;
  }

  #addUp(nowMs: number): void {
    const lastedMs = Math.max(0, nowMs - this.#sinceMs);
    this.#sum += this.#value * lastedMs;
    this.#squares += this.#value ** 2 * lastedMs;
    this.#sinceMs = Math.max(nowMs, this.#sinceMs);
  }
}
