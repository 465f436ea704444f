/** A member that has done nothing for so long is not busy: it does what comes in at once. */
const quietMs = 0.2;

/**
 * When the work that came in is done: all of one turn of the event loop together, which makes one write and one packet a
 * receiver of it. Where nothing else is going on, at once: a turn is time that a lone request waits.
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

  /** At the end of this turn. */
  later(): void {
    if (this.#isDue || this.#isStopped) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      this.#run();
    });
  }

  /** As soon as whoever called has ended, unless there was work a moment ago. */
  soon(nowMs: number): void {
    if (nowMs - this.#workedAtMs < quietMs) return this.later();
    this.now();
  }

  /** As soon as whoever called has ended. */
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
