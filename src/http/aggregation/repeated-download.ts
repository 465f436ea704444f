import { Backoff } from "../../client/backoff.ts";
import type { Clock } from "../../process/clock.ts";
import type { Slots } from "../../process/slots.ts";

export interface RepeatedDownloadParts {
  readonly clock: Clock;
  /** Returns numbers in [0, 1). */
  readonly random: () => number;
  readonly slots: Slots;
  /** Time until the next download after a success, and its limits after a failure. */
  readonly intervalMs: number;
  readonly retryMsMin: number;
  readonly retryMsMax: number;
  /** Downloads once and keeps the result. A failure is normal, and causes another attempt. */
  download(signal: AbortSignal): Promise<void>;
  /** Called after each attempt. */
  ended(): void;
}

/** Repeats a download, one at a time. */
export class RepeatedDownload implements Disposable {
  readonly #parts: RepeatedDownloadParts;
  readonly #backoff: Backoff;
  readonly #stop = new AbortController();
  #timer: Disposable | undefined;
  #isRunning = false;
  #again = false;
  #isPaused = true;

  constructor(parts: RepeatedDownloadParts) {
    this.#parts = parts;
    this.#backoff = new Backoff(parts.retryMsMin, parts.retryMsMax, parts.random);
  }

  /** Downloads now, or again if the current download began before this call. */
  now(): void {
    if (this.#stop.signal.aborted) return;
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    this.#isPaused = false;
    this.#backoff.reset();
    if (this.#isRunning) this.#again = true;
    else void this.#run();
  }

  /** Downloads nothing until the next `now`. */
  pause(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    this.#isPaused = true;
    this.#again = false;
  }

  [Symbol.dispose](): void {
    this.pause();
    this.#stop.abort();
  }

  async #run(): Promise<void> {
    const { slots, clock, intervalMs } = this.#parts;
    this.#isRunning = true;
    let error: unknown;
    do {
      this.#again = false;
      error = await slots.run(() => this.#attempt());
    } while (this.#again);
    this.#isRunning = false;
    if (this.#isPaused) return;
    const waitMs = error === undefined ? intervalMs : this.#backoff.next();
    if (error === undefined) this.#backoff.reset();
    this.#timer = clock.after(waitMs, () => {
      this.#timer = undefined;
      void this.#run();
    });
  }

  async #attempt(): Promise<unknown> {
    const { signal } = this.#stop;
    let failure: unknown;
    try {
      signal.throwIfAborted();
      await this.#parts.download(signal);
    } catch (error) {
      failure = error ?? new Error("the download failed");
    }
    if (!signal.aborted) this.#parts.ended();
    return failure;
  }
}
