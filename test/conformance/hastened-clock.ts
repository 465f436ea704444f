import { type Clock, systemClock } from "../../src/process/clock.ts";

/** Simulated time between two turns of the server. With 10 s or more its leader would lose the lease. */
const stepSecondsDefault = 1;
/** Simulated time in which a leader leads again. */
const electionSeconds = 20;
/** Real time for each step of the server. */
const turnMs = 4;

interface Timer {
  dueMs: number;
  readonly everyMs: number | undefined;
  readonly run: () => void;
  real: Disposable | undefined;
}

/** A clock that runs normally, and lets time pass faster on request. */
export class HastenedClock implements Clock {
  #aheadMs = 0;
  readonly #timers = new Set<Timer>();

  nowMs(): number {
    return systemClock.nowMs() + this.#aheadMs;
  }

  steadyMs(): number {
    return systemClock.steadyMs() + this.#aheadMs;
  }

  after(delayMs: number, run: () => void): Disposable {
    return this.#add({ dueMs: this.steadyMs() + delayMs, everyMs: undefined, run, real: undefined });
  }

  every(intervalMs: number, run: () => void): Disposable {
    return this.#add({ dueMs: this.steadyMs() + intervalMs, everyMs: intervalMs, run, real: undefined });
  }

  /** Advances time. Calls `meanwhile` after every step. */
  async pass(
    seconds: number,
    meanwhile: () => Promise<unknown> = async () => {},
    stepSeconds = stepSecondsDefault,
  ): Promise<void> {
    for (let second = 0; second < seconds; second += stepSeconds) {
      this.#aheadMs += stepSeconds * 1_000;
      const due = [...this.#timers].filter(({ dueMs }) => dueMs <= this.steadyMs());
      for (const timer of due.sort((one, other) => one.dueMs - other.dueMs)) this.#fire(timer);
      await meanwhile();
      await Bun.sleep(turnMs);
    }
  }

  /** Advances time at once, as on a machine that slept. The leader loses its lease, and then leads again. */
  async skip(seconds: number): Promise<void> {
    await this.pass(seconds, undefined, seconds);
    await this.pass(electionSeconds);
  }

  #add(timer: Timer): Disposable {
    this.#timers.add(timer);
    this.#plan(timer);
    return {
      [Symbol.dispose]: () => {
        timer.real?.[Symbol.dispose]();
        this.#timers.delete(timer);
      },
    };
  }

  #plan(timer: Timer): void {
    const fire = () => this.#fire(timer);
    const waitMs = Math.max(0, timer.dueMs - this.steadyMs());
    timer.real?.[Symbol.dispose]();
    // An interval must not keep the process alive.
    timer.real = timer.everyMs === undefined ? systemClock.after(waitMs, fire) : systemClock.every(waitMs, fire);
  }

  #fire(timer: Timer): void {
    if (!this.#timers.has(timer)) return;
    if (timer.everyMs === undefined) {
      timer.real?.[Symbol.dispose]();
      this.#timers.delete(timer);
    } else {
      timer.dueMs = this.steadyMs() + timer.everyMs;
      this.#plan(timer);
    }
    timer.run();
  }
}
