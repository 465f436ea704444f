import type { FrameEncoder } from "../../api/codec/frame-encoder.ts";
import type { Entry, Key } from "../../api/entry.ts";
import { type Revision, toRevision } from "../../api/revision.ts";
import { type Status, StatusError, status } from "../../api/status.ts";
import type { Clock } from "../../process/clock.ts";
import type { Slots } from "../../process/slots.ts";
import { thrownText } from "../../process/thrown-text.ts";
import type { ByteSink } from "../../request/exchange.ts";
import { CompactedError, type Store, type StoreEvent } from "../store.ts";
import type { CacheCounts } from "./cache-counts.ts";
import { type EventWindow, type SentType, WindowEvent } from "./event-window.ts";
import type { Pin } from "./facet.ts";
import type { CacherMetrics } from "./metrics.ts";
import type { ParkableWatcher } from "./parked-watchers.ts";
import {
  type Batch,
  batchOf,
  type Change,
  type ContentSelection,
  type PreparingEncoder,
  prepareChanges,
  preparing,
} from "./prepared-batch.ts";
import { chunkBytes, joinChunk, joinFrames, type ShareGroup } from "./share-group.ts";
import { type EntryTree, forEntries, prefixEnd } from "./tree.ts";
import type { Task, Timed, WatchScheduler } from "./watch-scheduler.ts";

export const bookmarkIntervalMs = 60_000;
/** Maximum share by which a bookmark interval is lengthened or shortened, to spread out the bookmarks of many watches. */
const bookmarkJitter = 0.1;
/** Time between the last bookmark and the deadline, long enough for the bookmark to reach the client. */
const lastBookmarkLeadMs = 2_000;
/** Maximum number of bytes written to one watcher before the others get their turn. */
const turnBytesMax = 1024 * 1024;
/** Maximum number of events of the window examined for one batch of an encoder that prepares. */
const batchEventsMax = 4_096;
/** Maximum number of entries of the initial state examined for one chunk. */
const initialEntriesMax = 1_024;

export interface WatchOptions {
  /** The resource's prefix, or the prefix of a namespace below it. */
  readonly prefix: Key;
  /** The key of the only object to watch. */
  readonly key?: Key;
  /** The selection. A change that crosses its border is shown as ADDED or DELETED. */
  readonly matches?: (entry: Entry) => boolean;
  /** Conditions that all entries of the selection meet. */
  readonly pins?: readonly Pin[];
  /** The selection in two steps, for an encoder that prepares entries. */
  readonly content?: ContentSelection | undefined;
  readonly start:
    | { readonly kind: "initial"; readonly endBookmark: boolean }
    | { readonly kind: "after"; readonly revision: Revision };
  readonly bookmarks: boolean;
  /** Time on the steady clock at which the watch ends. */
  readonly deadlineMs: number;
  readonly encoder: FrameEncoder;
  /** Called when the initial state has been sent. */
  readonly onInitialSent?: () => void;
}

export interface CacheWatcher {
  /**
   * Writes events until the deadline, `stop`, or the end of the sink. Resolves at a clean end. Call it at most once.
   */
  run(sink: ByteSink): Promise<void>;
  /** Ends the watch cleanly. */
  stop(): void;
}

/** The part of a cache that a watcher uses. */
export interface WatchSource {
  readonly prefix: Key;
  readonly revision: Revision;
  window(): EventWindow;
  readonly store: Store;
  readonly clock: Clock;
  readonly random: () => number;
  readonly scheduler: WatchScheduler;
  readonly historyReads: Slots;
  /** Maximum number of events read from the store's history at a time. */
  readonly historyEventsMax: number;
  readonly metrics: CacherMetrics | undefined;
  readonly counts: CacheCounts;
  /** Returns the current state, or a part of it with all entries that meet the conditions, unaffected by later writes. */
  snapshot(pins: readonly Pin[]): EntryTree;
  /** Counts entries of a snapshot that were not selected. */
  examinedInVain(pins: readonly Pin[], count: number): void;
  join(groupKey: string): ShareGroup;
  leave(groupKey: string): void;
  /** Registers for a turn whenever there are new events. */
  enter(watcher: Task): void;
  remove(watcher: Task): void;
  /** Waits for an event that the watcher's pin allows. Returns false if the watcher has to look at every event. */
  park(watcher: ParkableWatcher): boolean;
  unpark(watcher: ParkableWatcher): void;
}

interface InitialState {
  readonly tree: EntryTree;
  /** The next key to send. */
  low: Key;
  /** Number of entries that the selection left out. */
  inVain: number;
}

/**
 * One watch: a position in the shared event window rather than a queue. The scheduler calls `run` when there are new
 * events. Between turns, a watcher holds only its position.
 */
export class WindowWatcher implements CacheWatcher {
  readonly #source: WatchSource;
  readonly #options: WatchOptions;
  readonly #low: Key;
  readonly #high: Key;
  readonly #task: Task;
  /** The task again, if the watch concerns only some objects of the resource. */
  readonly #parkable: ParkableWatcher | undefined;
  readonly #timed: Timed = { due: (nowMs) => this.#due(nowMs) };
  readonly #abort = (): void => this.#end();
  readonly #select = (item: WindowEvent): SentType | undefined => this.#typeOf(item.event);
  readonly #groupKey: string | undefined;
  /** The encoder, if its entries need preparation. */
  readonly #preparing: PreparingEncoder | undefined;
  /** The selection by content, applied after the preparation. */
  readonly #content: ContentSelection | undefined;
  /** The whole selection, or its first step. */
  readonly #matches: WatchOptions["matches"];
  /** Frames of prepared entries, to be sent next. */
  #prepared: Piece | undefined;
  #group: ShareGroup | undefined;
  #initial: InitialState | undefined;
  #initialBookmark: boolean;
  /** The revision up to which every event was sent or does not concern this watch. */
  #after: Revision;
  #position: number;
  #nextBookmarkMs: number;
  #bookmarkDue = false;
  /** Whether the watch waits for the sink or the store. It then takes no turns. */
  #blocked = false;
  #sink: ByteSink | undefined;
  #resolve: (() => void) | undefined;
  #reject: ((error: unknown) => void) | undefined;
  /** Whether the watch waits for an event that concerns it. Others pass, and its position stays behind. */
  #isParked = false;
  #ended = false;

  constructor(source: WatchSource, options: WatchOptions) {
    this.#source = source;
    this.#options = options;
    this.#low = options.key ?? options.prefix;
    this.#high = options.key === undefined ? prefixEnd(options.prefix) : `${options.key}\0`;
    const run = (): void => this.#pump();
    const pin = pinOf(options, source.prefix);
    this.#parkable = pin && { pin, run, resume: ({ revision }, position) => this.#resume(revision, position) };
    this.#task = this.#parkable ?? { run };
    const { start, encoder } = options;
    this.#preparing = preparing(encoder);
    this.#content = this.#preparing === undefined ? undefined : options.content;
    this.#matches = this.#content?.mayMatch ?? options.matches;
    const shares = this.#matches === undefined && encoder.format !== "" && this.#preparing === undefined;
    this.#groupKey = shares ? `${encoder.format}\n${this.#low}` : undefined;
    this.#initialBookmark = start.kind === "initial" && start.endBookmark;
    this.#after = start.kind === "after" ? start.revision : source.revision;
    if (start.kind === "initial") {
      const tree = source.snapshot(options.pins ?? []);
      this.#initial = { tree, low: this.#low, inVain: 0 };
    }
    this.#position = source.window().positionAfter(this.#after) ?? -1;
    this.#nextBookmarkMs = this.#bookmarkTime(source.clock.steadyMs());
  }

  run(sink: ByteSink): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    if (this.#ended || sink.signal.aborted) {
      this.#ended = true;
      resolve();
      return promise;
    }
    this.#sink = sink;
    this.#resolve = resolve;
    this.#reject = reject;
    sink.signal.addEventListener("abort", this.#abort, { once: true });
    if (this.#groupKey !== undefined) this.#group = this.#source.join(this.#groupKey);
    this.#source.enter(this.#task);
    this.#source.metrics?.watchers?.(this.#source.prefix, 1);
    this.#arm();
    this.#pump();
    return promise;
  }

  stop(): void {
    this.#end();
  }

  #pump(): void {
    if (this.#ended || this.#blocked) return;
    this.#unpark();
    try {
      let written = 0;
      while (!this.#ended) {
        const chunk = this.#next();
        if (chunk === undefined) return this.#park();
        if (!this.#write(chunk.bytes, chunk.events)) return;
        written += chunk.bytes.byteLength;
        if (written >= turnBytesMax) {
          this.#source.scheduler.schedule(this.#task);
          return;
        }
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Waits for an event that concerns this watch, if everything before it is sent. */
  #park(): void {
    const isIdle = !this.#blocked && !this.#ended && this.#position === this.#source.window().end;
    if (this.#parkable !== undefined && isIdle) this.#isParked = this.#source.park(this.#parkable);
  }

  /** Looks at every event again. None so far concerned this watch. */
  #unpark(): void {
    if (this.#parkable === undefined || !this.#isParked) return;
    this.#source.unpark(this.#parkable);
    this.#resume(toRevision(this.#source.revision + 1), this.#source.window().end);
  }

  /** Continues with the event at `position`, or with the next one there. */
  #resume(revision: Revision, position: number): void {
    this.#isParked = false;
    this.#position = position;
    this.#after = toRevision(Math.max(this.#after, revision - 1));
    this.#source.enter(this.#task);
  }

  /** Returns the next bytes, or undefined if there is nothing to send yet. */
  #next(): Piece | undefined {
    const prepared = this.#prepared;
    this.#prepared = undefined;
    if (prepared !== undefined) return prepared;
    while (this.#initial !== undefined) {
      const chunk =
        this.#preparing === undefined
          ? this.#initialChunk(this.#initial)
          : this.#inBatches(this.#preparing, this.#initialBatch(this.#initial));
      if (chunk !== undefined || this.#blocked) return chunk;
      if (this.#initial === undefined) this.#options.onInitialSent?.();
    }
    if (this.#initialBookmark) {
      this.#initialBookmark = false;
      return { bytes: this.#options.encoder.bookmark(this.#after, true), events: 1 };
    }
    return this.#liveChunk() ?? this.#bookmark();
  }

  #initialChunk(initial: InitialState): Piece | undefined {
    const { encoder } = this.#options;
    const matches = this.#matches;
    const frames: Uint8Array[] = [];
    let bytes = 0;
    let seen = 0;
    let last: Key | undefined;
    forEntries(initial.tree, initial.low, this.#high, (entry) => {
      if (matches === undefined || matches(entry)) {
        const frame = encoder.event("ADDED", entry);
        frames.push(frame);
        bytes += frame.byteLength;
      } else initial.inVain++;
      last = entry.key;
      return bytes < chunkBytes && ++seen < initialEntriesMax;
    });
    if (last === undefined) this.#endInitial(initial);
    else initial.low = `${last}\0`;
    return pieceOf(frames);
  }

  #endInitial({ inVain }: InitialState): void {
    this.#initial = undefined;
    this.#source.examinedInVain(this.#options.pins ?? [], inVain);
  }

  /** Returns the next piece of the initial state, without marking it as sent. */
  #initialBatch(initial: InitialState): Batch {
    const matches = this.#matches;
    let last: Key | undefined;
    let seen = 0;
    const changes = batchOf((add) =>
      forEntries(initial.tree, initial.low, this.#high, (entry) => {
        last = entry.key;
        const isSelected = matches === undefined || matches(entry);
        if (!isSelected) initial.inVain++;
        const more = isSelected ? add({ type: "ADDED", entry }) : true;
        return more && ++seen < initialEntriesMax;
      }),
    );
    const advance = () => {
      if (last === undefined) this.#endInitial(initial);
      else initial.low = `${last}\0`;
    };
    return { changes, advance };
  }

  /** Returns the next events of the window up to the end of a revision, without marking them as sent. */
  #liveBatch(window: EventWindow): Batch {
    let to = this.#position;
    const last = to + batchEventsMax;
    const changes = batchOf((add) => {
      for (let more = true; to < window.end && ((more && to < last) || !window.endsRevision(to)); to++) {
        const change = this.#changeOf(window.at(to));
        if (change !== undefined) more = add(change);
      }
    });
    const { revision } = window.at(to - 1).event;
    const advance = () => {
      this.#position = to;
      this.#after = revision;
    };
    return { changes, advance };
  }

  /**
   * Returns the frames of the batch. Returns undefined if there are none, or if they take time; then the watch is
   * blocked.
   */
  #inBatches(encoder: PreparingEncoder, { changes, advance }: Batch): Piece | undefined {
    const prepared = prepareChanges(encoder, changes, this.#content);
    const framesOf = (ready: readonly Change[]): Piece | undefined => {
      advance();
      return pieceOf(ready.map(({ type, entry }) => encoder.event(type, entry)));
    };
    if (!(prepared instanceof Promise)) return framesOf(prepared);
    this.#blockUntil(prepared, (ready) => {
      this.#prepared = framesOf(ready);
      this.#source.scheduler.schedule(this.#task);
    });
    return undefined;
  }

  /** Takes no turns until the promise is settled. A failure ends the watch. */
  #blockUntil<T>(promise: Promise<T>, next: (value: T) => void): void {
    this.#blocked = true;
    promise.then(
      (value) => {
        this.#blocked = false;
        if (this.#ended) return;
        try {
          next(value);
        } catch (error) {
          this.#fail(error);
        }
      },
      (error) => this.#fail(error),
    );
  }

  #liveChunk(): Piece | undefined {
    const window = this.#source.window();
    if (this.#position < window.first) {
      // The revision may still lie within the window: dropped positions say nothing about a start in the future.
      const position = window.positionAfter(this.#after);
      if (position === undefined) {
        this.#catchUp();
        return undefined;
      }
      this.#position = position;
    }
    while (this.#position < window.end && window.at(this.#position).event.revision <= this.#after) this.#position++;
    while (this.#preparing !== undefined && this.#position < window.end) {
      const chunk = this.#inBatches(this.#preparing, this.#liveBatch(window));
      if (chunk !== undefined || this.#blocked) return chunk;
    }
    while (this.#position < window.end) {
      const { encoder } = this.#options;
      const chunk =
        this.#group?.chunk(window, this.#position, this.#select, encoder) ??
        joinChunk(window, this.#position, this.#select, encoder);
      this.#position = chunk.to;
      this.#after = window.at(chunk.to - 1).event.revision;
      if (chunk.bytes !== undefined) return { bytes: chunk.bytes, events: chunk.events };
    }
    return undefined;
  }

  #bookmark(): Piece | undefined {
    const { revision } = this.#source;
    if (this.#blocked || !this.#bookmarkDue || revision < this.#after) return undefined;
    this.#bookmarkDue = false;
    // Everything up to this revision is sent, so later reads of the history may start here.
    this.#after = revision;
    return { bytes: this.#options.encoder.bookmark(revision, false), events: 1 };
  }

  /** Reads a piece of the store's history, writes it, and continues. */
  #catchUp(): void {
    const { store, historyReads, historyEventsMax, metrics, prefix } = this.#source;
    metrics?.historyRead?.(prefix, "watch");
    const after = this.#after;
    const edge = this.#source.window().droppedRevision;
    const read = historyReads.run(() =>
      this.#ended
        ? Promise.resolve([])
        : store.eventsAfter(after, { prefix: this.#options.prefix, limit: historyEventsMax }),
    );
    this.#blockUntil(read, (events) => {
      if (this.#preparing === undefined) this.#writeHistory(events, edge);
      else this.#writeHistoryInBatches(this.#preparing, events, edge);
    });
  }

  /** Writes as many events as fit. The rest are read again later, so a stalled watch holds no events. */
  #writeHistory(events: readonly StoreEvent[], edge: Revision): void {
    const { encoder } = this.#options;
    let frames: Uint8Array[] = [];
    let bytes = 0;
    for (const [at, event] of events.entries()) {
      const type = this.#typeOf(event);
      if (type !== undefined) {
        const frame = encoder.event(type, new WindowEvent(event).sentEntry(type));
        frames.push(frame);
        bytes += frame.byteLength;
      }
      if (events[at + 1]?.revision === event.revision) continue;
      this.#after = event.revision;
      if (bytes < chunkBytes) continue;
      if (!this.#writeFrames(frames)) return;
      frames = [];
      bytes = 0;
    }
    // A short answer holds the rest of the history, so the position moves to the start of the window.
    if (events.length < this.#source.historyEventsMax && edge > this.#after) this.#after = edge;
    if (this.#writeFrames(frames)) this.#source.scheduler.schedule(this.#task);
  }

  /** Sends the start of the history that was read. The rest will be read again. */
  #writeHistoryInBatches(encoder: PreparingEncoder, events: readonly StoreEvent[], edge: Revision): void {
    let taken = 0;
    const changes = batchOf((add) => {
      let more = true;
      for (let last: Revision | undefined; taken < events.length; taken++) {
        const event = events[taken] as StoreEvent;
        if (!more && event.revision !== last) break;
        const change = this.#changeOf(new WindowEvent(event));
        if (change !== undefined) more = add(change);
        last = event.revision;
      }
    });
    const isWhole = taken === events.length && events.length < this.#source.historyEventsMax;
    const advance = () => {
      this.#after = events[taken - 1]?.revision ?? this.#after;
      if (isWhole && edge > this.#after) this.#after = edge;
    };
    this.#prepared = this.#inBatches(encoder, { changes, advance });
    if (!this.#blocked) this.#source.scheduler.schedule(this.#task);
  }

  #writeFrames(frames: readonly Uint8Array[]): boolean {
    const piece = pieceOf(frames);
    return piece === undefined || this.#write(piece.bytes, piece.events);
  }

  /** Writes a chunk. Returns false if the watch has to wait for the sink. */
  #write(chunk: Uint8Array, events: number): boolean {
    const sink = this.#sink as ByteSink;
    this.#source.counts.dispatched += events;
    this.#source.metrics?.sent?.(this.#source.prefix, events, chunk.byteLength);
    if (sink.write(chunk)) return true;
    this.#blocked = true;
    sink.drained().then(
      () => {
        this.#blocked = false;
        if (!this.#ended) this.#source.scheduler.schedule(this.#task);
      },
      (error) => this.#end(error),
    );
    return false;
  }

  /** Returns the event type that this watch shows for a change, or undefined if it shows nothing. */
  #typeOf({ type, entry, previous }: StoreEvent): SentType | undefined {
    if (entry.key < this.#low || entry.key >= this.#high) return undefined;
    const matches = this.#matches;
    if (matches === undefined) return type;
    const before = previous !== undefined && matches(previous);
    if (type === "DELETED") return before ? "DELETED" : undefined;
    if (matches(entry)) return before ? "MODIFIED" : "ADDED";
    return before ? "DELETED" : undefined;
  }

  #changeOf(item: WindowEvent): Change | undefined {
    const type = this.#typeOf(item.event);
    if (type === undefined) return undefined;
    const judgesPrevious = type === "MODIFIED" && this.#content !== undefined;
    return { type, entry: item.sentEntry(type), previous: judgesPrevious ? item.sentEntry("DELETED") : undefined };
  }

  #due(nowMs: number): void {
    if (this.#ended) return;
    if (nowMs >= this.#options.deadlineMs) {
      this.#end();
      return;
    }
    if (nowMs >= this.#nextBookmarkMs) {
      this.#bookmarkDue = this.#options.bookmarks;
      this.#nextBookmarkMs = this.#bookmarkTime(nowMs);
    }
    this.#arm();
    this.#source.scheduler.schedule(this.#task);
  }

  #arm(): void {
    this.#source.scheduler.arm(this.#timed, Math.min(this.#nextBookmarkMs, this.#options.deadlineMs));
  }

  /**
   * Returns the time of the next bookmark: after an interval, but no later than shortly before the deadline. Only one
   * bookmark is sent that close to the deadline.
   */
  #bookmarkTime(nowMs: number): number {
    if (!this.#options.bookmarks) return Number.POSITIVE_INFINITY;
    const intervalMs = bookmarkIntervalMs * (1 + bookmarkJitter * (2 * this.#source.random() - 1));
    const lastMs = this.#options.deadlineMs - lastBookmarkLeadMs;
    if (nowMs >= lastMs) return Number.POSITIVE_INFINITY;
    return Math.min(nowMs + intervalMs, lastMs);
  }

  /** Reports the error to the client and ends the watch. */
  #fail(error: unknown): void {
    if (this.#ended) return;
    if (error instanceof CompactedError) this.#source.counts.expiredWatches++;
    try {
      this.#sink?.write(this.#options.encoder.error(statusOf(error, this.#after)));
    } catch (failure) {
      this.#end(failure);
      return;
    }
    this.#end();
  }

  #end(error?: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#initial = undefined;
    const { scheduler, metrics, prefix } = this.#source;
    scheduler.disarm(this.#timed);
    scheduler.unschedule(this.#task);
    this.#sink?.signal.removeEventListener("abort", this.#abort);
    if (this.#sink === undefined) return;
    if (this.#parkable !== undefined && this.#isParked) this.#source.unpark(this.#parkable);
    this.#source.remove(this.#task);
    if (this.#groupKey !== undefined) this.#source.leave(this.#groupKey);
    metrics?.watchers?.(prefix, -1);
    if (error === undefined) this.#resolve?.();
    else this.#reject?.(error);
  }
}

/** Returns the condition that tells the events of a watch from most others; undefined for a watch of everything. */
function pinOf({ key, pins = [], prefix }: WatchOptions, all: Key): Pin | undefined {
  if (key !== undefined) return { facet: "key", values: [key] };
  return pins[0] ?? (prefix === all ? undefined : { facet: "prefix", values: [prefix] });
}

function statusOf(error: unknown, after: Revision): Status {
  if (error instanceof CompactedError) {
    return status.expired(`too old resource version: ${after} (${error.oldest})`).status;
  }
  if (error instanceof StatusError) return error.status;
  return status.internal(thrownText(error)).status;
}

/** Encoded bytes and the number of frames in them. */
interface Piece {
  readonly bytes: Uint8Array;
  readonly events: number;
}

function pieceOf(frames: readonly Uint8Array[]): Piece | undefined {
  const bytes = joinFrames(frames);
  return bytes === undefined ? undefined : { bytes, events: frames.length };
}
