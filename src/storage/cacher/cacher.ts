import type { Entry, Key } from "../../api/entry.ts";
import type { Revision } from "../../api/revision.ts";
import { status } from "../../api/status.ts";
import type { Clock } from "../../process/clock.ts";
import { Slots } from "../../process/slots.ts";
import { CompactedError, type Store, type StoreEvent } from "../store.ts";
import { CacheCounts } from "./cache-counts.ts";
import { type CacheWatcher, type WatchOptions, type WatchSource, WindowWatcher } from "./cache-watcher.ts";
import { EventWindow } from "./event-window.ts";
import type { Pin } from "./facet.ts";
import { type CacherLimits, defaultCacherLimits } from "./limits.ts";
import type { CacherMetrics } from "./metrics.ts";
import { ParkedWatchers } from "./parked-watchers.ts";
import { SelectionIndex } from "./selection-index.ts";
import { ShareGroup } from "./share-group.ts";
import { countEntries, type EntryTree, entryTree, forEntries, prefixEnd } from "./tree.ts";
import { TreeHistory } from "./tree-history.ts";
import { type Task, WatchScheduler } from "./watch-scheduler.ts";

export type { CacheWatcher, WatchOptions } from "./cache-watcher.ts";
export type { CacherLimits } from "./limits.ts";
export type { CacherMetrics } from "./metrics.ts";

/**
 * Maximum number of watches and lists of one resource that read the store's history at the same time. Others wait in
 * line.
 */
const historyReadersMax = 8;
/** Entries read from the store's history at a time for a list with a selection. */
const historyPageEntries = 1_000;
const trimIntervalMs = 10_000;

export interface CacherOptions {
  readonly store: Store;
  /** Prefix of the resource with the trailing slash, such as `/registry/pods/`. */
  readonly prefix: Key;
  readonly clock: Clock;
  readonly limits?: Partial<CacherLimits>;
  readonly metrics?: CacherMetrics;
  /** Source of numbers in [0, 1) that spread out bookmarks. */
  readonly random?: () => number;
  /** Runs a function in the next turn of the event loop. */
  readonly defer?: (run: () => void) => void;
  /** Events and turns shared with other caches. Without it the cache subscribes to the store itself. */
  readonly feed?: CacheFeed;
}

/** The state that a CacherSet shares among its caches. */
export interface CacheFeed {
  /** The newest revision seen of any resource. */
  readonly revision: Revision;
  readonly scheduler: WatchScheduler;
}

export interface ListOptions {
  /** The resource's prefix, or the prefix of a namespace below it. */
  readonly prefix: Key;
  /** The first key that may be listed. */
  readonly start?: Key;
  /** Maximum number of entries to return. Absent or not positive means all. */
  readonly limit?: number;
  readonly matches?: (entry: Entry) => boolean;
  /** Conditions that all entries of the selection meet, so that they can be found without a scan. */
  readonly pins?: readonly Pin[];
  /** Revision of the state to list; the newest by default. */
  readonly at?: Revision;
  /** Counters for the list; absent for a list that no client asked for. */
  readonly isRequest?: true;
}

export interface ListPage {
  readonly entries: readonly Entry[];
  readonly revision: Revision;
  /** `start` of the next page; undefined if nothing remains. The remaining entries need not be selected. */
  readonly next: Key | undefined;
  /** Number of entries after this page. Present only with `next`, without a selection, and if it is known. */
  readonly remaining: number | undefined;
}

/** The objects of one resource in memory, in order, with their recent past. Shares the store's entries. */
export class Cacher {
  readonly prefix: Key;
  readonly counts = new CacheCounts();
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #limits: CacherLimits;
  readonly #feed: CacheFeed;
  #window: EventWindow;
  #history: TreeHistory;
  #tree: EntryTree;
  #index: SelectionIndex;
  #bodyBytes = 0;
  /** The revision of the state that this cache was last built from. */
  #builtAt: Revision;
  /** The revision of this resource's last change, or of the initial state. */
  #changed: Revision;
  /** All entries in order; cleared by the next change. */
  #all: readonly Entry[] | undefined;
  readonly #historyReads = new Slots(historyReadersMax);
  /** Watchers that look at every event. */
  readonly #watchers = new Set<Task>();
  readonly #parked = new ParkedWatchers();
  readonly #open = new Set<WindowWatcher>();
  readonly #groups = new Map<string, ShareGroup>();
  readonly #source: WatchSource;
  readonly #wake: Task = { run: () => this.#wakeWatchers() };
  readonly #build: Task = { run: () => this.#buildIndex() };
  readonly #disposables: Disposable[] = [];
  #closed = false;

  constructor(options: CacherOptions) {
    const { store, prefix, clock } = options;
    this.prefix = prefix;
    this.#store = store;
    this.#clock = clock;
    this.#limits = { ...defaultCacherLimits, ...options.limits };
    this.#feed = options.feed ?? this.#ownFeed(options);
    this.#builtAt = store.revision;
    this.#changed = store.revision;
    this.#tree = this.#readState();
    this.#window = new EventWindow(this.#limits, store.revision);
    this.#history = new TreeHistory(this.#limits, this.#window);
    this.#index = new SelectionIndex(prefix, this.#limits);
    this.#source = this.#makeSource(options);
    this.#disposables.push(clock.every(trimIntervalMs, () => this.#trim()));
  }

  /** The newest revision that this cache has seen. Changes of other resources move it too. */
  get revision(): Revision {
    return this.#feed.revision;
  }

  /** The revision of the last change of one of this cache's objects. */
  get changed(): Revision {
    return this.#changed;
  }

  get size(): number {
    return this.#tree.size;
  }

  /** Total size of the objects' bodies. */
  get bodyBytes(): number {
    return this.#bodyBytes;
  }

  /** Maximum number of events kept in memory. */
  get eventsMax(): number {
    return this.#limits.windowEventsMax;
  }

  /** Number of running watches. */
  get watching(): number {
    return this.#open.size;
  }

  get(key: Key): Entry | undefined {
    return key.startsWith(this.prefix) ? this.#store.get(key) : undefined;
  }

  /**
   * Returns the newest entries below `prefix`, in order. The cost depends on their number only, whereas a scan of the
   * store first sorts the keys of all resources if one has come or gone.
   */
  entries(prefix: Key = this.prefix): readonly Entry[] {
    return this.#listTree(this.#tree, { prefix }, this.revision).entries;
  }

  /**
   * Returns a page of the list. Returns a promise only if the store's history is needed.
   * @throws CompactedError when `at` is compacted, StatusError 504 when it is ahead of the store
   */
  list(options: ListOptions): ListPage | Promise<ListPage> {
    const { at } = options;
    if (at === undefined || at === this.revision) return this.#listTree(this.#tree, options, this.revision);
    if (at > this.revision) throw status.tooLargeResourceVersion(at, this.revision);
    // Every replica gives the same answer, regardless of the history that it still has in memory.
    if (at < this.#store.compactedRevision) throw new CompactedError(this.#store.compactedRevision);
    const tree = at >= this.#changed ? this.#tree : this.#history.at(at, this.#tree, this.#clock.steadyMs());
    return tree === undefined ? this.#listHistory(options, at) : this.#listTree(tree, options, at);
  }

  /** Waits until the cache is fresh enough for a list. @param isConsistent the list must show the newest state */
  async whenFresh(wait: () => Promise<void> | undefined, isConsistent: boolean): Promise<void> {
    const { counts } = this;
    const startedMs = this.#clock.steadyMs();
    try {
      const waiting = wait();
      if (waiting !== undefined) await waiting;
      if (isConsistent) counts.consistentReads++;
    } catch (error) {
      if (isConsistent) counts.failedConsistentReads++;
      throw error;
    }
    this.#source.metrics?.waited?.(this.prefix, (this.#clock.steadyMs() - startedMs) / 1_000);
  }

  /** Returns a watch that starts now. It uses no resources until `run`. */
  watch(options: WatchOptions): CacheWatcher {
    const watcher = new WindowWatcher(this.#source, options);
    const window = this.#window;
    return {
      run: (sink) => {
        if (this.#closed || window !== this.#window) watcher.stop();
        this.#open.add(watcher);
        return watcher.run(sink).finally(() => this.#open.delete(watcher));
      },
      stop: () => watcher.stop(),
    };
  }

  /**
   * Applies one event. The feed calls this for each event below the prefix, in order, and then `changesDone` once per
   * batch. Several events may have the same revision.
   */
  apply(event: StoreEvent): void {
    // A cache that is built while a batch is published already has its events.
    if (event.revision <= this.#builtAt || this.#closed) return;
    this.counts.received++;
    this.#history.beforeChange(event);
    if (event.type !== "DELETED") this.#bodyBytes += event.entry.body.byteLength;
    this.#bodyBytes -= event.previous?.body.byteLength ?? 0;
    if (event.type === "DELETED") this.#tree.delete(event.entry.key);
    else this.#tree.set(event.entry.key, event.entry);
    this.#index.apply(event);
    this.#changed = event.revision;
    this.#all = undefined;
    this.#window.append(event, this.#clock.steadyMs());
    this.#parked.receive(event, this.#window.end - 1);
  }

  changesDone(): void {
    if (this.#watchers.size > 0) this.#feed.scheduler.schedule(this.#wake);
  }

  /**
   * Starts again from the store's state, which was replaced and not changed by events. Watches end cleanly, and their
   * clients resume from the store's history.
   */
  reset(): void {
    for (const watcher of this.#open) watcher.stop();
    this.#builtAt = this.#store.revision;
    this.#changed = this.#store.revision;
    this.#tree = this.#readState();
    this.#all = undefined;
    this.#window = new EventWindow(this.#limits, this.#store.revision);
    this.#history = new TreeHistory(this.#limits, this.#window);
    this.#index = new SelectionIndex(this.prefix, this.#limits);
  }

  /** Ends all watches cleanly. */
  close(): void {
    this.#closed = true;
    for (const watcher of this.#open) watcher.stop();
    this.#feed.scheduler.unschedule(this.#wake);
    this.#feed.scheduler.unschedule(this.#build);
    for (const disposable of this.#disposables) disposable[Symbol.dispose]();
    this.#disposables.length = 0;
  }

  #readState(): EntryTree {
    const entries = this.#store.scan(this.prefix);
    this.counts.builds++;
    this.counts.builtFrom += entries.length;
    this.#bodyBytes = 0;
    for (const { body } of entries) this.#bodyBytes += body.byteLength;
    return entryTree(entries);
  }

  #listTree(tree: EntryTree, options: ListOptions, revision: Revision): ListPage {
    const { limit = 0, start = options.prefix, matches } = options;
    const low = start > options.prefix ? start : options.prefix;
    const high = prefixEnd(options.prefix);
    if (limit <= 0 && matches === undefined && tree === this.#tree && low === this.prefix) {
      this.#all ??= tree.valuesArray();
      this.#count(options, this.#all.length, this.#all.length);
      return { entries: this.#all, revision, next: undefined, remaining: undefined };
    }
    const max = limit > 0 ? limit : Number.POSITIVE_INFINITY;
    const pins = tree === this.#tree ? options.pins : undefined;
    const entries: Entry[] = [];
    let more = false;
    let examined = 0;
    forEntries(this.#select(pins) ?? tree, low, high, (entry) => {
      examined++;
      more = entries.length >= max;
      if (!more && (matches?.(entry) ?? true)) entries.push(entry);
      return !more;
    });
    this.#examinedInVain(pins, examined - entries.length);
    this.#count(options, examined, entries.length);
    const page = pageOf(entries, revision, more);
    if (page.next === undefined) return page;
    if (tree === this.#tree) this.#history.keep(tree, this.#changed, this.#clock.steadyMs());
    return matches === undefined ? { ...page, remaining: countEntries(tree, page.next, high) } : page;
  }

  /** Returns a part of the newest state with all entries that meet the conditions, if it is known. */
  #select(pins: readonly Pin[] = []): EntryTree | undefined {
    return pins.length === 0 ? undefined : this.#index.select(pins, this.#tree.size, this.#clock.steadyMs());
  }

  #examinedInVain(pins: readonly Pin[] = [], count: number): void {
    if (pins.length === 0 || count === 0) return;
    const needsPostings = this.#index.examinedInVain(pins, count, this.#tree.size, this.#clock.steadyMs());
    if (needsPostings) this.#feed.scheduler.schedule(this.#build);
  }

  #count({ isRequest }: ListOptions, examined: number, returned: number): void {
    if (isRequest === undefined) return;
    this.counts.lists++;
    this.counts.examined += examined;
    this.counts.returned += returned;
  }

  /** Reads the store at `at`. The remaining count is then unknown. */
  async #listHistory(options: ListOptions, at: Revision): Promise<ListPage> {
    this.#source.metrics?.historyRead?.(this.prefix, "list");
    const { counts } = this;
    counts.historyLists++;
    const { prefix, limit = 0, start = prefix, matches } = options;
    const max = limit > 0 ? limit : Number.POSITIVE_INFINITY;
    const pageSize = matches === undefined ? max + 1 : historyPageEntries;
    const entries: Entry[] = [];
    let low = start > prefix ? start : prefix;
    for (;;) {
      const range = { prefix, start: low, ...(pageSize === Number.POSITIVE_INFINITY ? {} : { limit: pageSize }) };
      const read = await this.#historyReads.run(() => this.#store.scanAt(at, range));
      counts.historyRead += read.length;
      for (const entry of read) {
        if (entries.length >= max) return pageOf(entries, at, true);
        if (!(matches?.(entry) ?? true)) continue;
        entries.push(entry);
        counts.historyReturned++;
      }
      if (read.length < pageSize) return pageOf(entries, at, false);
      low = `${(read[read.length - 1] as Entry).key}\0`;
    }
  }

  #wakeWatchers(): void {
    for (const watcher of this.#watchers) this.#feed.scheduler.schedule(watcher);
  }

  #buildIndex(): void {
    if (this.#index.build(this.#tree)) this.#feed.scheduler.schedule(this.#build);
  }

  #trim(): void {
    const nowMs = this.#clock.steadyMs();
    this.#window.trim(nowMs);
    this.#history.trim(nowMs);
    this.#index.trim(nowMs);
    for (const group of this.#groups.values()) group.clear();
  }

  #ownFeed({ store, clock, defer }: CacherOptions): CacheFeed {
    const feed = { revision: store.revision, scheduler: new WatchScheduler(clock, defer) };
    const subscription = store.subscribe((events, revision, jumped) => {
      if (jumped) {
        feed.revision = revision;
        return this.reset();
      }
      for (const event of events) if (event.entry.key.startsWith(this.prefix)) this.apply(event);
      feed.revision = revision;
      this.changesDone();
    });
    this.#disposables.push(subscription, { [Symbol.dispose]: () => feed.scheduler.close() });
    return feed;
  }

  #makeSource({ store, clock, random = Math.random, metrics, prefix }: CacherOptions): WatchSource {
    const feed = this.#feed;
    return {
      prefix,
      historyEventsMax: this.#limits.historyEventsMax,
      store,
      clock,
      random,
      metrics,
      counts: this.counts,
      window: () => this.#window,
      scheduler: feed.scheduler,
      historyReads: this.#historyReads,
      get revision() {
        return feed.revision;
      },
      snapshot: (pins) => (this.#select(pins) ?? this.#tree).clone(),
      examinedInVain: (pins, count) => this.#examinedInVain(pins, count),
      join: (groupKey) => this.#join(groupKey),
      leave: (groupKey) => this.#leave(groupKey),
      enter: (watcher) => this.#watchers.add(watcher),
      remove: (watcher) => this.#watchers.delete(watcher),
      park: (watcher) => {
        const isParked = this.#parked.park(watcher);
        if (isParked) this.#watchers.delete(watcher);
        return isParked;
      },
      unpark: (watcher) => this.#parked.remove(watcher),
    };
  }

  #join(groupKey: string): ShareGroup {
    let group = this.#groups.get(groupKey);
    if (group === undefined) {
      group = new ShareGroup();
      this.#groups.set(groupKey, group);
    }
    group.members++;
    return group;
  }

  #leave(groupKey: string): void {
    const group = this.#groups.get(groupKey);
    if (group !== undefined && --group.members === 0) this.#groups.delete(groupKey);
  }
}

function pageOf(entries: readonly Entry[], revision: Revision, more: boolean): ListPage {
  const last = entries[entries.length - 1];
  return { entries, revision, next: more && last !== undefined ? `${last.key}\0` : undefined, remaining: undefined };
}
