import { decodeEntry } from "../api/codec/stored-object.ts";
import type { Entry } from "../api/entry.ts";
import type { Revision } from "../api/revision.ts";
import { StatusError } from "../api/status.ts";
import type { Event } from "../api/types/core-v1.ts";
import type { Clock } from "../process/clock.ts";
import { plainDeletion } from "../registry/delete-options.ts";
import type { Registry } from "../registry/registry.ts";
import { serverContext } from "../registry/server-context.ts";
import type { DeleteOptions } from "../registry/strategy.ts";
import type { Store } from "../storage/store.ts";
import { namesOf } from "./object-key.ts";

/** Number of marks per time to live. It determines how late an Event may be removed. */
const marksPerTtl = 60;
/**
 * Maximum number of Events removed in one round. The others follow in the next rounds, so that many of them never delay
 * other work for long.
 */
const removalsPerRoundMax = 1_000;

export interface EventExpiryParts {
  readonly events: Registry;
  readonly store: Store;
  readonly clock: Clock;
  readonly ttlMs: number;
  /** Called before each round. Of several servers on one store, only its leader removes Events. */
  readonly mayAct: () => boolean | Promise<boolean>;
  readonly onError: (error: unknown) => void;
}

/** Number of Events of an earlier run that are read in one turn, so that a start does not wait for all of them. */
const inheritedPerTurn = 500;

/** An Event of an earlier run with its expiration time on the steady clock. */
interface Inherited {
  readonly key: string;
  readonly revision: Revision;
  readonly dueMs: number;
}

/**
 * Removes Events that were not written within their time to live. Revisions determine the age: everything up to a
 * revision seen `ttlMs` ago is due, so no Event is read. Events of an earlier run are read once, to get their age from
 * their timestamps.
 */
export class EventExpiry {
  readonly #parts: EventExpiryParts;
  #marks: { readonly timeMs: number; readonly revision: Revision }[] = [];
  #running = false;
  #inherited: Inherited[] = [];

  constructor(parts: EventExpiryParts) {
    this.#parts = parts;
  }

  start(): Disposable {
    const { clock, ttlMs, onError, store, events } = this.#parts;
    const running = new DisposableStack();
    this.#mark();
    const timer = clock.every(Math.max(1_000, Math.floor(ttlMs / marksPerTtl)), () => {
      this.#mark();
      if (!this.#running) void this.#removeDue().catch(onError);
    });
    running.use(timer);
    this.#inherit(store.scan(events.info.keyPrefix), 0, running);
    return running;
  }

  /** Reads some of the Events of an earlier run now, and the others in later turns. */
  #inherit(entries: readonly Entry[], from: number, running: DisposableStack): void {
    const { clock, ttlMs, events } = this.#parts;
    if (running.disposed) return;
    const [nowMs, steadyMs] = [clock.nowMs(), clock.steadyMs()];
    for (const entry of entries.slice(from, from + inheritedPerTurn)) {
      const ageMs = nowMs - writtenMs(decodeEntry(entry, events.info) as Event, nowMs);
      const dueMs = steadyMs + ttlMs - ageMs;
      this.#inherited.push({ key: entry.key, revision: entry.revision, dueMs });
    }
    const next = from + inheritedPerTurn;
    if (next < entries.length) clock.after(0, () => this.#inherit(entries, next, running));
  }

  #mark(): void {
    this.#marks.push({ timeMs: this.#parts.clock.steadyMs(), revision: this.#parts.store.revision });
    if (this.#marks.length > 2 * marksPerTtl) this.#marks.splice(1, 1);
  }

  async #removeDue(): Promise<void> {
    const { clock, ttlMs, events, mayAct } = this.#parts;
    const nowMs = clock.steadyMs();
    const keepFrom = nowMs - ttlMs;
    this.#running = true;
    try {
      if (!(await mayAct())) return;
      await this.#removeInherited(nowMs);
      const at = this.#marks.findLastIndex(({ timeMs }) => timeMs <= keepFrom);
      const mark = this.#marks[at];
      if (mark === undefined) return;
      this.#marks = this.#marks.slice(at);
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

  async #removeInherited(nowMs: number): Promise<void> {
    const isDue = ({ dueMs }: Inherited) => dueMs <= nowMs;
    const due = this.#inherited.filter(isDue).slice(0, removalsPerRoundMax);
    if (due.length === 0) return;
    const removed = new Set(due);
    this.#inherited = this.#inherited.filter((event) => !removed.has(event));
    for (const { key, revision } of due) await this.#remove(key, revision);
  }

  async #remove(key: string, revision: Revision): Promise<void> {
    const { events } = this.#parts;
    const { namespace, name } = namesOf(events, key);
    try {
      await events.delete(namespace, name, unchangedSince(revision), serverContext);
    } catch (error) {
      // The Event was removed, or written again, just now.
      if (!(error instanceof StatusError && (error.code === 404 || error.code === 409))) throw error;
    }
  }
}

/** Returns the newest time in an Event, at most the current time. */
function writtenMs({ metadata, lastTimestamp, eventTime, series }: Event, nowMs: number): number {
  const times = [lastTimestamp, eventTime, series?.lastObservedTime, metadata.creationTimestamp];
  const known = times.flatMap((time) => (typeof time === "string" ? [Date.parse(time)] : []));
  return Math.min(nowMs, Math.max(0, ...known.filter((ms) => !Number.isNaN(ms))));
}

function unchangedSince(revision: Revision): DeleteOptions {
  return { ...plainDeletion, preconditions: { uid: undefined, resourceVersion: String(revision) } };
}
