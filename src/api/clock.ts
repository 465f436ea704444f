/** Time as a dependency, so that a test can hold it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  nowMs(): number;
  /** Runs once after `delayMs`. */
  after(delayMs: number, run: () => void): Disposable;
  /** Runs every `intervalMs`; does not keep the process alive. */
  every(intervalMs: number, run: () => void): Disposable;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
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

/** RFC 3339 in whole seconds, UTC: meta/v1 Time. */
export function formatTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
