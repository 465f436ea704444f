import type { Clock } from "../../src/process/clock.ts";

/** The time of a serving process, which can be paused, and ends before or with the process that it belongs to. */
export class ServingClock implements Clock {
  readonly #clock: Clock;
  #pausedUntilMs = 0;
  #hasEnded = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  nowMs(): number {
    return this.#clock.nowMs();
  }

  steadyMs(): number {
    return this.#clock.steadyMs();
  }

  after(delayMs: number, run: () => void): Disposable {
    let isDisposed = false;
    this.#clock.after(delayMs, () => this.#whenAwake(() => isDisposed || run()));
    return { [Symbol.dispose]: () => void (isDisposed = true) };
  }

  every(intervalMs: number, run: () => void): Disposable {
    return this.#clock.every(intervalMs, () => this.#whenAwake(run));
  }

  /** Stands still for a while, and then runs what was due. */
  pause(durationMs: number): void {
    this.#pausedUntilMs = this.steadyMs() + durationMs;
  }

  end(): void {
    this.#hasEnded = true;
  }

  #whenAwake(run: () => void): void {
    if (this.#hasEnded) return;
    const leftMs = this.#pausedUntilMs - this.steadyMs();
    if (leftMs <= 0) run();
    else this.#clock.after(leftMs, () => this.#whenAwake(run));
  }
}
