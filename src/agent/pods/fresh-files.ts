import type { Pod } from "../../api/types/core-v1.ts";
import type { Clock } from "../../process/clock.ts";
import { thrownText } from "../../process/thrown-text.ts";
import { type PodFiles, PodFilesError } from "./pod-files.ts";
import type { RecordPodEvent } from "./pod-recorder.ts";

/** Interval at which the files of a pod are brought up to date. */
const refreshMs = 60_000;

export interface FreshFilesParts {
  readonly files: Pick<PodFiles, "prepare" | "remove">;
  readonly clock: Clock;
  readonly record: RecordPodEvent;
  /** In [0, 1). */
  readonly random: () => number;
}

/** The files of one pod, which are prepared when it starts and brought up to date while it runs. */
export class FreshFiles {
  readonly #parts: FreshFilesParts;
  readonly #podOf: () => Pod;
  #isPrepared = false;
  /** The latest attempt. */
  #latest: Promise<boolean> = Promise.resolve(false);
  #dueMs = Number.POSITIVE_INFINITY;

  /** @param podOf returns the newest known state of the pod */
  constructor(parts: FreshFilesParts, podOf: () => Pod) {
    this.#parts = parts;
    this.#podOf = podOf;
  }

  /** Whether an attempt has succeeded. */
  get isPrepared(): boolean {
    return this.#isPrepared;
  }

  /** Time of the next attempt, by the steady clock. */
  get dueMs(): number {
    return this.#dueMs;
  }

  /** Brings the next attempt forward to a time of the steady clock. */
  setDue(ms: number): void {
    this.#dueMs = Math.min(this.#dueMs, ms);
  }

  /** Brings the files up to date, after any earlier attempt. Returns whether that succeeded. */
  prepare(): Promise<boolean> {
    const { clock, random } = this.#parts;
    this.#dueMs = clock.steadyMs() + refreshMs * (1 + random() / 2);
    this.#latest = this.#latest.then(() => this.#prepareNow());
    return this.#latest;
  }

  /** Removes the files when no attempt is under way. */
  async remove(): Promise<void> {
    await this.#latest;
    await this.#parts.files.remove(this.#podOf().metadata.uid ?? "");
  }

  async #prepareNow(): Promise<boolean> {
    const { files, record } = this.#parts;
    const pod = this.#podOf();
    try {
      await files.prepare(pod);
      this.#isPrepared = true;
      return true;
    } catch (error) {
      const reason = error instanceof PodFilesError ? error.reason : "FailedMount";
      record(pod, { type: "Warning", reason, message: thrownText(error) });
      return false;
    }
  }
}
