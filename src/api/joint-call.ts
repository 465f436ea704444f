/** Returns a signal that aborts when no caller waits for the outcome; undefined if callers always wait. */
export type SignalSource = () => AbortSignal | undefined;

/** The end of a call that several callers may wait for. It ends early once all of them have gone. */
export class JointCall {
  readonly #controller = new AbortController();
  #callers = 0;

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Adds a caller, who has gone once the signal aborts. */
  join(signal: AbortSignal | undefined): void {
    this.#callers++;
    const leave = () => {
      this.#callers--;
      if (this.#callers === 0) this.#controller.abort(signal?.reason);
    };
    if (signal?.aborted === true) leave();
    else signal?.addEventListener("abort", leave, { once: true });
  }
}
