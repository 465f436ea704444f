/** Time as a dependency, so that a test can hold it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  nowMs(): number;
  /** Milliseconds since some moment of this process: goes on evenly when somebody sets the time. */
  steadyMs(): number;
  /** Runs once after `delayMs`. */
  after(delayMs: number, run: () => void): Disposable;
  /** Runs every `intervalMs`; does not keep the process alive. */
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

/** RFC 3339 in whole seconds, UTC: meta/v1 Time. */
export function formatTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** The same in microseconds, `2006-01-02T15:04:05.000000Z`: meta/v1 MicroTime. */
export function formatMicroTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -1)}000Z`;
}
