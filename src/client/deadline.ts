import type { Clock } from "../process/clock.ts";
import { NoAnswerError } from "./transport.ts";

/** A signal that aborts at a deadline, or with the caller's own signal. */
export class Deadline implements Disposable {
  readonly #clock: Clock;
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  #timer: Disposable | undefined;

  constructor(clock: Clock, afterMs: number, outer: AbortSignal | undefined) {
    this.#clock = clock;
    this.#outer = outer;
    if (outer?.aborted === true) this.#onAbort();
    else outer?.addEventListener("abort", this.#onAbort, { once: true });
    this.extend(afterMs);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Moves the deadline to this time from now; undefined for none. */
  extend(afterMs: number | undefined): void {
    this.#timer?.[Symbol.dispose]();
    if (afterMs === undefined || !Number.isFinite(afterMs)) return;
    const late = () => this.#controller.abort(new NoAnswerError(`there was no answer within ${afterMs / 1_000} s`));
    this.#timer = this.#clock.after(afterMs, late);
  }

  /** Waits for a promise, but not beyond the deadline. */
  async race<T>(promise: Promise<T>): Promise<T> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const abort = () => reject(this.signal.reason);
    if (this.signal.aborted) abort();
    else this.signal.addEventListener("abort", abort, { once: true });
    try {
      return await Promise.race([late, promise]);
    } finally {
      this.signal.removeEventListener("abort", abort);
    }
  }

  /** Returns the reason of the abort if there was one, because an aborted request fails with various errors. */
  reasonFor(error: unknown): unknown {
    return this.signal.aborted ? this.signal.reason : error;
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    this.#outer?.removeEventListener("abort", this.#onAbort);
  }

  readonly #onAbort = (): void => this.#controller.abort(this.#outer?.reason);
}
