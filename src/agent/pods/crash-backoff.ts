/** Delay before the second restart. It doubles with each further restart, up to the maximum. */
const delayMsMin = 10_000;
const delayMsMax = 300_000;
/** Time between an attempt and the next failure after which it counts as the first. */
const forgottenMs = 2 * delayMsMax;

interface Delay {
  readonly delayMs: number;
  readonly atMs: number;
}

/**
 * The delays between attempts at things that fail again and again: restarts of containers, pulls of images. Nothing is
 * delayed before it is counted once. All times are by the steady clock.
 */
export class CrashBackoff {
  readonly #delays = new Map<string, Delay>();

  /** Returns the delay that follows a failure at this time; 0 if there is none. */
  delayMs(name: string, failedAtMs: number): number {
    return this.#known(name, failedAtMs)?.delayMs ?? 0;
  }

  /** Counts an attempt after a failure. The next one is delayed longer. */
  next(name: string, failedAtMs: number, nowMs: number): void {
    const last = this.#known(name, failedAtMs);
    const delayMs = last === undefined ? delayMsMin : Math.min(delayMsMax, 2 * last.delayMs);
    this.#delays.set(name, { delayMs, atMs: nowMs });
  }

  #known(name: string, failedAtMs: number): Delay | undefined {
    const known = this.#delays.get(name);
    return known !== undefined && failedAtMs - known.atMs <= forgottenMs ? known : undefined;
  }
}
