import type { Clock } from "../../process/clock.ts";

/**
 * Runs an action at once, but for each kind at most once per interval. Requests during an interval cause one run at its
 * end.
 */
export class Throttle<Kind> implements Disposable {
  readonly #clock: Clock;
  readonly #intervalMs: number;
  readonly #action: (kind: Kind) => void;
  readonly #waiting = new Map<Kind, { timer: Disposable; isWanted: boolean }>();
  #isOver = false;

  constructor(clock: Clock, intervalMs: number, action: (kind: Kind) => void) {
    this.#clock = clock;
    this.#intervalMs = intervalMs;
    this.#action = action;
  }

  run(kind: Kind): void {
    if (this.#isOver) return;
    const waiting = this.#waiting.get(kind);
    if (waiting !== undefined) {
      waiting.isWanted = true;
      return;
    }
    const timer = this.#clock.after(this.#intervalMs, () => this.#waited(kind));
    this.#waiting.set(kind, { timer, isWanted: false });
    this.#action(kind);
  }

  #waited(kind: Kind): void {
    const isWanted = this.#waiting.get(kind)?.isWanted;
    this.#waiting.delete(kind);
    if (isWanted === true) this.run(kind);
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    for (const { timer } of this.#waiting.values()) timer[Symbol.dispose]();
    this.#waiting.clear();
  }
}
