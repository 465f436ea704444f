import type { Entry, Key } from "../api/entry.ts";
import type { Revision } from "../api/revision.ts";
import { type Clock, systemClock } from "../process/clock.ts";
import { AppliedFeed } from "./applied-feed.ts";
import { CommandQueue } from "./command-queue.ts";
import { EventHistory } from "./event-history.ts";
import { StateMachine } from "./state-machine.ts";
import {
  type ApplyResult,
  type Command,
  type EventListener,
  type Store,
  type StoreEvent,
  StoreUnavailableError,
} from "./store.ts";

/** Maximum number of events of history. Beyond it the store compacts the oldest away. */
const memoryHistoryEventsMax = 500_000;

/**
 * A Store without a disk: everything is lost with the process. Its history is the list of events since the last
 * compaction.
 */
export class MemoryStore implements Store {
  readonly #state = new StateMachine();
  readonly #feed: AppliedFeed;
  readonly #queue = new CommandQueue((commands) => this.#apply(commands));
  readonly #history = new EventHistory();

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

  isStale(): false {
    return false;
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
    return this.#history.scanAt(this.#state, at, prefix, start, limit);
  }

  async eventsAfter(after: Revision, { prefix, limit }: { prefix: Key; limit: number }): Promise<StoreEvent[]> {
    return this.#history.eventsAfter(this.#state, after, prefix, limit);
  }

  subscribe(listener: EventListener): Disposable {
    return this.#feed.subscribe(listener);
  }

  async compact(revision: Revision): Promise<void> {
    this.#state.compact(revision);
    this.#history.trim(this.#state);
  }

  async close(): Promise<void> {
    this.#queue.close(new StoreUnavailableError("the store is closed"));
    await this.#queue.idle();
    this.#feed.close();
  }

  #apply(commands: readonly Command[]): readonly ApplyResult[] {
    const { events, results } = this.#state.apply(commands);
    this.#history.add(events);
    if (this.#history.events.length > memoryHistoryEventsMax) this.#halveHistory();
    if (events.length > 0) this.#feed.publish(events, this.#state.revision);
    return results;
  }

  #halveHistory(): void {
    const { events } = this.#history;
    const middle = events[events.length >>> 1] as StoreEvent;
    this.#state.compact(middle.revision);
    this.#history.trim(this.#state);
  }
}
