import { humanDuration, steadyMs } from "./human-duration.ts";

/** The time for which a row is made. It writes the ages in the row, and notes how long they stay the same. */
export class RowTime {
  readonly #nowMs: number;
  #staleAtMs = Number.POSITIVE_INFINITY;

  constructor(nowMs: number) {
    this.#nowMs = nowMs;
  }

  /** Time at which the first age of the row changes. */
  get staleAtMs(): number {
    return this.#staleAtMs;
  }

  /** Formats the time passed since a timestamp; `<unknown>` without one. */
  ageOf(timestamp: string | null | undefined): string {
    const at = typeof timestamp === "string" ? Date.parse(timestamp) : Number.NaN;
    return Number.isNaN(at) ? "<unknown>" : this.since(at);
  }

  /** Formats the time passed since a moment. */
  since(ms: number): string {
    const passedMs = this.#nowMs - ms;
    this.#staleAtMs = Math.min(this.#staleAtMs, this.#nowMs + steadyMs(passedMs));
    return humanDuration(passedMs);
  }
}
