import { runSliced } from "../process/sliced.ts";

/**
 * Runs computations one after the other, each in slices, so that a long one does not delay other requests. The number of
 * kinds and owners limits the queue.
 */
export class SlicedWork implements Disposable {
  readonly #onError: (error: unknown) => void;
  readonly #waiting: (() => Generator<void, void>)[] = [];
  #isRunning = false;
  #stopped = false;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  add(steps: () => Generator<void, void>): void {
    if (this.#stopped) return;
    this.#waiting.push(steps);
    if (this.#isRunning) return;
    this.#isRunning = true;
    setImmediate(() => void this.#run());
  }

  [Symbol.dispose](): void {
    this.#stopped = true;
    this.#waiting.length = 0;
  }

  async #run(): Promise<void> {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      try {
        await runSliced(this.#untilStopped(next()));
      } catch (error) {
        this.#onError(error);
      }
    }
    this.#isRunning = false;
  }

  *#untilStopped(steps: Generator<void, void>): Generator<void, void> {
    for (const _ of steps) {
      yield;
      if (this.#stopped) return;
    }
  }
}
