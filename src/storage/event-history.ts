import type { Entry, Key } from "../api/entry.ts";
import type { Revision } from "../api/revision.ts";
import { compareKeys } from "./key-order.ts";
import type { StateMachine } from "./state-machine.ts";
import { CompactedError, type StoreEvent } from "./store.ts";

/** The history of a state in memory: every event since the compacted revision, oldest first. */
export class EventHistory {
  #events: StoreEvent[];

  constructor(events: readonly StoreEvent[] = []) {
    this.#events = [...events];
  }

  get events(): readonly StoreEvent[] {
    return this.#events;
  }

  add(events: readonly StoreEvent[]): void {
    for (const event of events) this.#events.push(event);
  }

  /** Drops events before the state's compacted revision. */
  trim({ compactedRevision }: StateMachine): void {
    this.#events = this.#events.slice(this.#firstAfter(compactedRevision));
  }

  /** @throws CompactedError */
  scanAt(state: StateMachine, at: Revision, prefix: Key, start: Key, limit: number): Entry[] {
    checkReadable(state, at);
    const then = new Map<Key, Entry | undefined>();
    for (let index = this.#firstAfter(at); index < this.#events.length; index++) {
      const { entry, previous } = this.#events[index] as StoreEvent;
      // The first event after `at` holds the state that it replaced, which is the state at `at`.
      if (entry.key.startsWith(prefix) && entry.key >= start && !then.has(entry.key)) then.set(entry.key, previous);
    }
    const entries = state.scan(prefix, start).filter(({ key }) => !then.has(key));
    for (const entry of then.values()) if (entry !== undefined) entries.push(entry);
    if (then.size > 0) entries.sort((a, b) => compareKeys(a.key, b.key));
    return entries.length > limit ? entries.slice(0, limit) : entries;
  }

  /** @throws CompactedError */
  eventsAfter(state: StateMachine, after: Revision, prefix: Key, limit: number): StoreEvent[] {
    checkReadable(state, after);
    const found: StoreEvent[] = [];
    for (let index = this.#firstAfter(after); index < this.#events.length && found.length < limit; index++) {
      const event = this.#events[index] as StoreEvent;
      if (event.entry.key.startsWith(prefix)) found.push(event);
    }
    return found;
  }

  /** Returns the index of the first event after `revision`. Revisions are contiguous, so a subtraction is enough. */
  #firstAfter(revision: Revision): number {
    const first = this.#events[0];
    if (first === undefined) return 0;
    return Math.min(this.#events.length, Math.max(0, revision + 1 - first.revision));
  }
}

function checkReadable({ compactedRevision }: StateMachine, revision: Revision): void {
  if (revision < compactedRevision) throw new CompactedError(compactedRevision);
}
