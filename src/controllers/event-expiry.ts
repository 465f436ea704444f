import type { Clock } from "../api/clock.ts";
import { StatusError } from "../api/status.ts";
import { systemUser } from "../authentication/system-user.ts";
import type { Registry, WriteContext } from "../registry/registry.ts";
import type { DeleteOptions } from "../registry/strategy.ts";
import type { Revision } from "../storage/revision.ts";
import type { Store } from "../storage/store.ts";

/** How late an Event may go, as a part of its time to live. */
const marksPerTtl = 60;
/** Events removed in one round; the rest follows in the next, so that a flood of them never stops other work for long. */
const removalsPerRoundMax = 1_000;

const context: WriteContext = { user: systemUser, manager: "quorate", dryRun: false, warn() {} };

export interface EventExpiryParts {
  readonly events: Registry;
  readonly store: Store;
  readonly clock: Clock;
  readonly ttlMs: number;
  readonly onError: (error: unknown) => void;
}

/**
 * Removes Events that nobody has written for their time to live. Age is told by revision: what is not newer than a
 * revision seen `ttlMs` ago is due, so no Event is read. The marks are not kept over a restart: Events then live longer.
 */
export class EventExpiry {
  readonly #parts: EventExpiryParts;
  #marks: { readonly timeMs: number; readonly revision: Revision }[] = [];
  #running = false;

  constructor(parts: EventExpiryParts) {
    this.#parts = parts;
  }

  start(): Disposable {
    const { clock, ttlMs, onError } = this.#parts;
    this.#mark();
    return clock.every(Math.max(1_000, Math.floor(ttlMs / marksPerTtl)), () => {
      this.#mark();
      if (!this.#running) void this.#removeDue().catch(onError);
    });
  }

  #mark(): void {
    this.#marks.push({ timeMs: this.#parts.clock.nowMs(), revision: this.#parts.store.revision });
    if (this.#marks.length > 2 * marksPerTtl) this.#marks.splice(1, 1);
  }

  async #removeDue(): Promise<void> {
    const { clock, ttlMs, events } = this.#parts;
    const keepFrom = clock.nowMs() - ttlMs;
    const at = this.#marks.findLastIndex(({ timeMs }) => timeMs <= keepFrom);
    const mark = this.#marks[at];
    if (mark === undefined) return;
    this.#marks = this.#marks.slice(at);
    this.#running = true;
    try {
      const page = await events.cacher.list({
        prefix: events.info.keyPrefix,
        matches: ({ revision }) => revision <= mark.revision,
        limit: removalsPerRoundMax,
      });
      for (const { key, revision } of page.entries) await this.#remove(key, revision);
    } finally {
      this.#running = false;
    }
  }

  async #remove(key: string, revision: Revision): Promise<void> {
    const { events } = this.#parts;
    const [namespace = "", name = ""] = key.slice(events.info.keyPrefix.length).split("/");
    try {
      await events.delete(namespace, name, unchangedSince(revision), context);
    } catch (error) {
      // Gone, or written again just now.
      if (!(error instanceof StatusError && (error.code === 404 || error.code === 409))) throw error;
    }
  }
}

function unchangedSince(revision: Revision): DeleteOptions {
  return {
    gracePeriodSeconds: undefined,
    propagationPolicy: undefined,
    orphanDependents: undefined,
    preconditions: { uid: undefined, resourceVersion: String(revision) },
    dryRun: false,
  };
}
