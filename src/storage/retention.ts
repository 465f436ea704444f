import type { Revision } from "../api/revision.ts";
import type { Clock } from "../process/clock.ts";
import type { Store } from "./store.ts";

/** Marks per retention time. History is kept for the retention time plus at most one interval between marks. */
const marksPerRetention = 5;

export interface RetentionOptions {
  readonly store: Pick<Store, "revision" | "compactedRevision" | "compact">;
  readonly clock: Clock;
  readonly retentionMs: number;
  /** Called before each compaction. Of several servers on one store, only its leader compacts. */
  readonly mayAct: () => boolean | Promise<boolean>;
  /** Receives the error of a failed compaction. The next one is tried as usual. */
  readonly onError?: (error: unknown) => void;
}

interface Mark {
  /** On the steady clock. */
  readonly timeMs: number;
  readonly revision: Revision;
}

/** Compacts a store so that a revision stays readable for `retentionMs` after it was superseded. */
export class Retention {
  readonly #options: RetentionOptions;
  /** Past revisions with their times, oldest first: those within the retention time, and the last one before it. */
  #marks: Mark[] = [];
  #compacting = false;

  constructor(options: RetentionOptions) {
    this.#options = options;
  }

  /** Runs until disposed. */
  start(): Disposable {
    const { clock, retentionMs } = this.#options;
    this.#mark();
    return clock.every(Math.max(1, Math.floor(retentionMs / marksPerRetention)), () => this.#tick());
  }

  #tick(): void {
    this.#mark();
    const { clock, retentionMs, store } = this.#options;
    const keepFrom = clock.steadyMs() - retentionMs;
    const expired = this.#marks.findLastIndex(({ timeMs }) => timeMs <= keepFrom);
    const mark = this.#marks[expired];
    if (mark === undefined) return;
    this.#marks = this.#marks.slice(expired);
    if (mark.revision > store.compactedRevision) void this.#compact(mark.revision);
  }

  #mark(): void {
    this.#marks.push({ timeMs: this.#options.clock.steadyMs(), revision: this.#options.store.revision });
    if (this.#marks.length > marksPerRetention * 2) this.#marks.splice(1, 1);
  }

  async #compact(revision: Revision): Promise<void> {
    if (this.#compacting) return;
    this.#compacting = true;
    try {
      if (await this.#options.mayAct()) await this.#options.store.compact(revision);
    } catch (error) {
      this.#options.onError?.(error);
    } finally {
      this.#compacting = false;
    }
  }
}
