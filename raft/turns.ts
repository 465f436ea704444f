/** Idle time after which a member handles input at once. */
const quietMs = 0.2;

/**
 * Schedules the work for incoming requests. All requests of one turn of the event loop are handled together, with one
 * write and one packet per receiver. An idle member handles a request at once, so that a single request does not wait
 * for a turn.
 */
export class Turns {
  readonly #work: () => void;
  #isDue = false;
  #isDueSoon = false;
  #isStopped = false;
  #workedAtMs = 0;

  constructor(work: () => void) {
    this.#work = work;
  }

  /** Schedules the work for the end of this turn. */
  later(): void {
    if (this.#isDue || this.#isStopped) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      this.#run();
    });
  }

  /** Schedules the work for after the caller has returned, unless there was work a moment ago. */
  soon(nowMs: number): void {
    if (nowMs - this.#workedAtMs < quietMs) return this.later();
    this.now();
  }

  /** Schedules the work for after the caller has returned. */
  now(): void {
    if (this.#isDueSoon || this.#isStopped) return;
    this.#isDueSoon = true;
    queueMicrotask(() => {
      this.#isDueSoon = false;
      this.#run();
    });
  }

  stop(): void {
    this.#isStopped = true;
  }

  #run(): void {
    if (this.#isStopped) return;
    this.#work();
    this.#workedAtMs = performance.now();
  }
}
