/** Time as a dependency, so that tests control it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  nowMs(): number;
  /** Milliseconds since some moment of this process. Does not jump when the system's time is set. */
  steadyMs(): number;
  /** Runs once after `delayMs`. */
  after(delayMs: number, run: () => void): Disposable;
  /** Runs every `intervalMs`. Does not keep the process alive. */
  every(intervalMs: number, run: () => void): Disposable;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  steadyMs: () => performance.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  },
  every(intervalMs, run) {
    const timer = setInterval(run, intervalMs);
    timer.unref();
    return { [Symbol.dispose]: () => clearInterval(timer) };
  },
};
