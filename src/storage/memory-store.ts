import { type Clock, systemClock } from "../api/clock.ts";
import { AppliedFeed } from "./applied-feed.ts";
import { type CommandBatch, CommandQueue } from "./command-queue.ts";
import { compareKeys } from "./key-order.ts";
import type { Revision } from "./revision.ts";
import { StateMachine } from "./state-machine.ts";
import {
  type ApplyResult,
  type Command,
  CompactedError,
  type Entry,
  type EventListener,
  type Key,
  type Store,
  type StoreEvent,
  StoreUnavailableError,
} from "./store.ts";

/** History beyond it is compacted away by the store itself, oldest first. */
const memoryHistoryEventsMax = 500_000;

/** A Store without a disk: everything is lost with the process. History is the list of events since the compaction. */
export class MemoryStore implements Store {
  readonly #state = new StateMachine();
  readonly #feed: AppliedFeed;
  readonly #queue = new CommandQueue((batch) => this.#apply(batch));
  /** Events after the compacted revision, oldest first. */
  #history: StoreEvent[] = [];

  constructor({ clock = systemClock }: { clock?: Clock } = {}) {
    this.#feed = new AppliedFeed(clock);
  }

  get revision(): Revision {
    return this.#state.revision;
  }

  get compactedRevision(): Revision {
    return this.#state.compactedRevision;
  }

  get size(): number {
    return this.#state.size;
  }

  get failure(): undefined {
    return undefined;
  }

  get corrupt(): readonly [] {
    return [];
  }

  corruptAt(): undefined {
    return undefined;
  }

  commit(command: Command): Promise<ApplyResult> {
    return this.#queue.add(command);
  }

  readBarrier(): Revision {
    return this.#state.revision;
  }

  waitFor(revision: Revision, timeoutMs: number): Promise<boolean> {
    return this.#feed.waitFor(revision, this.#state.revision, timeoutMs);
  }

  get(key: Key): Entry | undefined {
    return this.#state.get(key);
  }

  scan(prefix: Key): Entry[] {
    return this.#state.scan(prefix);
  }

  async scanAt(
    at: Revision,
    { prefix, start = prefix, limit = Number.POSITIVE_INFINITY }: { prefix: Key; start?: Key; limit?: number },
  ): Promise<Entry[]> {
    this.#checkReadable(at);
    const then = new Map<Key, Entry | undefined>();
    for (let index = this.#firstAfter(at); index < this.#history.length; index++) {
      const { entry, previous } = this.#history[index] as StoreEvent;
      // The first event after `at` knows the state that it replaced: the one at `at`.
      if (entry.key.startsWith(prefix) && entry.key >= start && !then.has(entry.key)) then.set(entry.key, previous);
    }
    const entries = this.#state.scan(prefix, start).filter(({ key }) => !then.has(key));
    for (const entry of then.values()) if (entry !== undefined) entries.push(entry);
    if (then.size > 0) entries.sort((a, b) => compareKeys(a.key, b.key));
    return entries.length > limit ? entries.slice(0, limit) : entries;
  }

  async eventsAfter(after: Revision, { prefix, limit }: { prefix: Key; limit: number }): Promise<StoreEvent[]> {
    this.#checkReadable(after);
    const found: StoreEvent[] = [];
    for (let index = this.#firstAfter(after); index < this.#history.length && found.length < limit; index++) {
      const event = this.#history[index] as StoreEvent;
      if (event.entry.key.startsWith(prefix)) found.push(event);
    }
    return found;
  }

  subscribe(listener: EventListener): Disposable {
    return this.#feed.subscribe(listener);
  }

  async compact(revision: Revision): Promise<void> {
    this.#history = this.#history.slice(this.#firstAfter(this.#state.compact(revision)));
  }

  async close(): Promise<void> {
    this.#queue.close(new StoreUnavailableError("the store is closed"));
    await this.#queue.idle();
    this.#feed.close();
  }

  #apply(batch: CommandBatch): void {
    const { events, results } = this.#state.apply(batch.commands);
    for (const event of events) this.#history.push(event);
    if (this.#history.length > memoryHistoryEventsMax) this.#halveHistory();
    if (events.length > 0) this.#feed.publish(events, this.#state.revision);
    batch.resolve(results);
  }

  #halveHistory(): void {
    const middle = this.#history[this.#history.length >>> 1] as StoreEvent;
    this.#history = this.#history.slice(this.#firstAfter(this.#state.compact(middle.revision)));
  }

  #checkReadable(revision: Revision): void {
    if (revision < this.#state.compactedRevision) throw new CompactedError(this.#state.compactedRevision);
  }

  /** Index of the first event after `revision`. Revisions are contiguous, so it is a subtraction. */
  #firstAfter(revision: Revision): number {
    const first = this.#history[0];
    if (first === undefined) return 0;
    return Math.min(this.#history.length, Math.max(0, revision + 1 - first.revision));
  }
}
