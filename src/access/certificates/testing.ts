import type { Clock } from "../../process/clock.ts";

/** A clock that stands still. A test runs its periodic actions. */
export class StepClock implements Clock {
  ms = Date.now();
  readonly #runs: (() => void)[] = [];
  nowMs(): number {
    return this.ms;
  }
  steadyMs(): number {
    return this.ms;
  }
  after(): Disposable {
    throw new Error("nothing here waits once");
  }
  every(_intervalMs: number, run: () => void): Disposable {
    this.#runs.push(run);
    return { [Symbol.dispose]: () => {} };
  }
  async turn(): Promise<void> {
    for (const run of this.#runs) run();
    await Bun.sleep(50);
  }
}
