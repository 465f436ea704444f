import type { Entry, Key } from "../../api/entry.ts";
import type { Revision } from "../../api/revision.ts";
import { atMost } from "../../process/at-most.ts";
import type { Clock } from "../../process/clock.ts";
import { AppliedFeed } from "../applied-feed.ts";
import { entryWithRevision } from "../cacher/with-resource-version.ts";
import {
  type ApplyResult,
  type Command,
  CompactedError,
  type CorruptEntryError,
  type EventListener,
  type Store,
  type StoreEvent,
  StoreUnavailableError,
  UndecryptableEntryError,
} from "../store.ts";
import { EntryCipher, type ResourceFinder } from "./entry-cipher.ts";
import { type Batch, HeldBatches } from "./held-batches.ts";
import { isEncrypted } from "./identity.ts";
import type { ResourceTransformers } from "./resource-transformers.ts";
import { sealedIndex } from "./sealed-object.ts";

/** Time for which readers wait for a key service when they meet a new seed. */
const holdMsMax = 5_000;
const heldBatchesMax = 20_000;

export interface EncryptedStoreOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly transformers: ResourceTransformers;
  readonly resourceOf: ResourceFinder;
}

/**
 * A Store that encrypts what another one stores. Readers see plain entries. An entry is decrypted when it arrives and
 * its plain form lives as long as the entry. One that cannot be decrypted counts as unreadable: it is in `corrupt`, and
 * in no list and no scan.
 *
 * If a key service has to be asked first, readers see the whole state from before, until it answers or a few seconds are
 * over. That is rare: each replica makes one seed per key of the service.
 */
export class EncryptedStore implements Store, Disposable {
  readonly #store: Store;
  readonly #feed: AppliedFeed;
  readonly #cipher: EntryCipher;
  readonly #subscription: Disposable;
  readonly #unreadable = new Map<Key, UndecryptableEntryError>();
  readonly #clock: Clock;
  readonly #held = new HeldBatches();
  /** Answers of key services that took too long. Nothing waits for them any more. */
  readonly #givenUp = new WeakSet<Promise<void>>();
  #overfull = Promise.withResolvers<void>();
  #published: Revision;

  constructor({ store, clock, transformers, resourceOf }: EncryptedStoreOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#published = store.revision;
    this.#feed = new AppliedFeed(clock);
    this.#cipher = new EntryCipher(transformers, resourceOf);
    this.#findUnreadable();
    this.#subscription = store.subscribe((events, revision, jumped) => this.#receive(events, revision, jumped));
  }

  get revision(): Revision {
    return this.#held.size === 0 ? this.#store.revision : this.#published;
  }

  get compactedRevision(): Revision {
    return this.#store.compactedRevision;
  }

  get size(): number {
    return this.#store.size;
  }

  get failure(): StoreUnavailableError | undefined {
    return this.#store.failure;
  }

  get corrupt(): readonly CorruptEntryError[] {
    return this.#unreadable.size === 0 ? this.#store.corrupt : [...this.#store.corrupt, ...this.#unreadable.values()];
  }

  corruptAt(key: Key): CorruptEntryError | undefined {
    return this.#store.corruptAt(key) ?? this.#unreadable.get(key);
  }

  /**
   * Uses other transformers from now on. Entries that only they can decrypt become readable; those that are readable
   * remain so.
   */
  useTransformers(transformers: ResourceTransformers): void {
    this.#cipher.use(transformers);
    this.reopen();
  }

  /** Tries to decrypt what is unreadable. Call it when a key service has answered. */
  reopen(): void {
    const recovered: StoreEvent[] = [];
    for (const key of [...this.#unreadable.keys()].sort()) {
      const sealed = this.#sealedEntry(key);
      if (sealed === undefined) continue;
      const entry = this.#cipher.open(sealed);
      if (entry instanceof UndecryptableEntryError) {
        this.#unreadable.set(key, entry);
        continue;
      }
      this.#unreadable.delete(key);
      recovered.push({ revision: entry.revision, type: "ADDED", entry, previous: undefined });
    }
    if (recovered.length > 0) this.#feed.publish(recovered, this.revision, true);
  }

  async commit(command: Command): Promise<ApplyResult> {
    const unreadable = this.#unreadable.size === 0 ? undefined : this.#unreadable.get(command.key);
    if (unreadable !== undefined) return this.#removeUnreadable(command, unreadable);
    if (this.#held.size > 0) await this.#shown(this.#store.revision);
    const before = command.operation.kind === "delete" ? this.get(command.key) : undefined;
    const result = await this.#store.commit(this.#seal(command, before));
    if (this.#held.size > 0) await this.#shown(this.#store.revision);
    return this.#readableResult(result, before);
  }

  readBarrier(): Revision | Promise<Revision> {
    const revision = this.#store.readBarrier();
    return revision instanceof Promise ? revision.then((confirmed) => this.#readAt(confirmed)) : this.#readAt(revision);
  }

  async waitFor(revision: Revision, timeoutMs: number): Promise<boolean> {
    const untilMs = this.#clock.steadyMs() + timeoutMs;
    if (!(await this.#store.waitFor(revision, timeoutMs))) return false;
    return this.#feed.waitFor(revision, this.revision, untilMs - this.#clock.steadyMs());
  }

  get(key: Key): Entry | undefined {
    const entry = this.#sealedEntry(key);
    if (entry === undefined || !isEncrypted(entry.body)) return entry;
    return readable(this.#cipher.open(entry));
  }

  scan(prefix: Key): Entry[] {
    const entries = this.#sealedEntries(prefix);
    if (!entries.some(({ body }) => isEncrypted(body))) return entries;
    return entries.flatMap((entry) => readable(this.#cipher.open(entry)) ?? []);
  }

  async scanAt(at: Revision, options: { prefix: Key; start?: Key; limit?: number }): Promise<Entry[]> {
    const entries = await this.#store.scanAt(at, options);
    await this.#prepared(entries);
    return entries.map((entry) => this.#openPast(entry));
  }

  async eventsAfter(after: Revision, options: { prefix: Key; limit: number }): Promise<StoreEvent[]> {
    const events = await this.#store.eventsAfter(after, options);
    await this.#prepared(events.flatMap(({ entry, previous }) => (previous === undefined ? entry : [entry, previous])));
    return events.map((event) => {
      if (!concernsEncrypted(event)) return event;
      const previous = event.previous === undefined ? undefined : this.#openPast(event.previous);
      const entry = this.#openPast(event.entry);
      return { ...event, entry: event.type === "DELETED" ? withIndexOf(entry, previous) : entry, previous };
    });
  }

  subscribe(listener: EventListener): Disposable {
    return this.#feed.subscribe(listener);
  }

  isStale(entry: Entry): boolean {
    return this.#cipher.isStale(entry);
  }

  compact(revision: Revision): Promise<void> {
    return this.#store.compact(revision);
  }

  async close(): Promise<void> {
    await this.#store.close();
    this[Symbol.dispose]();
  }

  /** Ends the subscriptions, and leaves the other store open. */
  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
    this.#feed.close();
  }

  #sealedEntry(key: Key): Entry | undefined {
    const entry = this.#store.get(key);
    return this.#held.size === 0 ? entry : this.#held.get(key, entry);
  }

  #sealedEntries(prefix: Key): Entry[] {
    const entries = this.#store.scan(prefix);
    return this.#held.size === 0 ? entries : this.#held.scan(prefix, entries);
  }

  /** Resolves with true when readers see a revision that the inner store has applied. */
  #shown(revision: Revision): Promise<boolean> {
    return this.#feed.waitFor(revision, this.revision, holdMsMax);
  }

  /** @throws StoreUnavailableError if a key service does not answer for too long */
  #readAt(revision: Revision): Revision | Promise<Revision> {
    if (this.#held.size === 0) return revision;
    return this.#shown(revision).then((isShown) => {
      if (isShown) return revision;
      throw new StoreUnavailableError("the key service does not answer", "notDone");
    });
  }

  #seal(command: Command, before?: Entry): Command {
    const operation = this.#cipher.seal(command.key, command.operation, before);
    return operation === command.operation ? command : { ...command, operation };
  }

  #readableResult(result: ApplyResult, before: Entry | undefined): ApplyResult {
    if (result.kind === "applied") {
      const entry = withIndexOf(this.#mustOpen(result.entry), before);
      return entry === result.entry ? result : { ...result, entry };
    }
    if (result.kind === "outdated") return result;
    const { current } = result;
    return current === undefined ? result : { kind: "rejected", current: this.#mustOpen(current) };
  }

  /**
   * Deletes an unreadable object, which is all that can be done with it. Readers never saw it, so it is replaced by the
   * state in the command first.
   */
  async #removeUnreadable(command: Command, unreadable: UndecryptableEntryError): Promise<ApplyResult> {
    const { key, operation, expect } = command;
    if (operation.kind !== "delete" || expect.kind !== "any") throw unreadable;
    const replace: Command = { key, expect, operation: { kind: "put", index: sealedIndex, body: operation.last } };
    await this.#store.commit(this.#seal(replace));
    return this.#readableResult(await this.#store.commit(this.#seal(command)), undefined);
  }

  #receive(events: readonly StoreEvent[], revision: Revision, jumped: boolean): void {
    const batch = { events, revision, jumped };
    if (this.#held.size === 0 && this.#preparation(events).length === 0) return this.#publish(batch);
    this.#held.add(batch);
    if (this.#held.size === 1) void this.#releaseHeld();
    if (this.#held.size > heldBatchesMax) this.#overfull.resolve();
  }

  /** Publishes the held batches in order, each when the key services have answered. */
  async #releaseHeld(): Promise<void> {
    for (let batch = this.#held.first; batch !== undefined; batch = this.#held.first) {
      const answers = this.#preparation(batch.events);
      const done = Promise.race([Promise.all(answers), this.#overfull.promise]);
      if (answers.length > 0) await atMost(this.#clock, holdMsMax, done);
      for (const answer of answers) this.#givenUp.add(answer);
      this.#held.release();
      this.#publish(batch);
    }
    this.#overfull = Promise.withResolvers();
  }

  /** Returns the answers of key services that the new entries of some events need. */
  #preparation(events: readonly StoreEvent[]): Promise<void>[] {
    if (!events.some(concernsEncrypted)) return [];
    return this.#answersFor(events.map(({ entry }) => entry)).filter((answer) => !this.#givenUp.has(answer));
  }

  /** Waits until entries of the history can be decrypted, but not forever. */
  async #prepared(entries: readonly Entry[]): Promise<void> {
    const answers = this.#answersFor(entries);
    if (answers.length > 0) await atMost(this.#clock, holdMsMax, Promise.all(answers));
  }

  #answersFor(entries: readonly Entry[]): Promise<void>[] {
    return [...new Set(entries.flatMap((entry) => this.#cipher.prepare(entry) ?? []))];
  }

  #publish({ events, revision, jumped }: Batch): void {
    this.#published = revision;
    if (jumped) this.#findUnreadable();
    if (!events.some(concernsEncrypted)) return this.#feed.publish(events, revision, jumped);
    const visible: StoreEvent[] = [];
    let hasLost = false;
    for (const event of events) {
      const seen = this.#visible(event);
      if (seen !== "lost" && seen !== "hidden") visible.push(seen);
      hasLost ||= seen === "lost";
    }
    // Watchers cannot be told that an object has become unreadable. They list again, and learn it from the answer.
    this.#feed.publish(visible, revision, jumped || hasLost);
  }

  /** Returns an event as readers see it: it can end an object for them, or be about one that they do not see. */
  #visible(event: StoreEvent): StoreEvent | "lost" | "hidden" {
    const { type, revision } = event;
    const opened = this.#cipher.open(event.entry);
    const entry = readable(opened);
    const previous = event.previous === undefined ? undefined : readable(this.#cipher.open(event.previous));
    const { key } = event.entry;
    if (type === "DELETED") {
      this.#unreadable.delete(key);
      if (previous === undefined) return "hidden";
      const last = entry === undefined ? entryWithRevision(previous, revision) : withIndexOf(entry, previous);
      return { revision, type, entry: last, previous };
    }
    if (entry === undefined) {
      if (opened instanceof UndecryptableEntryError) this.#unreadable.set(key, opened);
      return previous === undefined ? "hidden" : "lost";
    }
    this.#unreadable.delete(key);
    return { revision, type: previous === undefined ? "ADDED" : "MODIFIED", entry, previous };
  }

  /** Decrypts every entry, so that readers do not have to. */
  #findUnreadable(): void {
    this.#unreadable.clear();
    for (const entry of this.#sealedEntries("/")) {
      const opened = this.#cipher.open(entry);
      if (opened instanceof UndecryptableEntryError) this.#unreadable.set(entry.key, opened);
    }
  }

  #mustOpen(entry: Entry): Entry {
    const opened = this.#cipher.open(entry);
    if (opened instanceof UndecryptableEntryError) throw opened;
    return opened;
  }

  /** History that an old key encrypted ends like compacted history: clients list again. @throws CompactedError */
  #openPast(entry: Entry): Entry {
    const opened = readable(this.#cipher.open(entry));
    if (opened === undefined) throw new CompactedError(this.revision);
    return opened;
  }
}

function readable(opened: Entry | UndecryptableEntryError): Entry | undefined {
  return opened instanceof UndecryptableEntryError ? undefined : opened;
}

function concernsEncrypted({ entry, previous }: StoreEvent): boolean {
  return isEncrypted(entry.body) || (previous !== undefined && isEncrypted(previous.body));
}

/**
 * Completes the last state of a deleted object: the store takes its index from the state before, where it is encrypted
 * with the body.
 */
function withIndexOf(entry: Entry, previous: Entry | undefined): Entry {
  return entry.index.apiVersion === "" && previous !== undefined ? { ...entry, index: previous.index } : entry;
}
