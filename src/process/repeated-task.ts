import type { Clock } from "./clock.ts";

/**
 * Runs a task again and again, never twice at a time. It costs one timer between two runs, so there may be thousands.
 */
export class RepeatedTask implements Disposable {
  readonly #clock: Clock;
  readonly #run: () => Promise<number>;
  #timer: Disposable | undefined;
  #isRunning = false;
  #isAskedAgain = false;
  #isStopped = false;

  /**
   * @param run returns the milliseconds from its end to the next run, and does not reject
   * @param firstMs time until the first run
   */
  constructor(clock: Clock, run: () => Promise<number>, firstMs = 0) {
    this.#clock = clock;
    this.#run = run;
    this.#schedule(firstMs);
  }

  /** Runs the task now, or once more at the end of the current run. */
  runNow(): void {
    if (this.#isRunning) this.#isAskedAgain = true;
    else this.#schedule(0);
  }

  [Symbol.dispose](): void {
    this.#isStopped = true;
    this.#timer?.[Symbol.dispose]();
  }

  #schedule(afterMs: number): void {
    this.#timer?.[Symbol.dispose]();
    if (!this.#isStopped) this.#timer = this.#clock.after(afterMs, () => void this.#runOnce());
  }

  async #runOnce(): Promise<void> {
    this.#isRunning = true;
    this.#isAskedAgain = false;
    const nextMs = await this.#run();
    this.#isRunning = false;
    this.#schedule(this.#isAskedAgain ? 0 : nextMs);
  }
}
