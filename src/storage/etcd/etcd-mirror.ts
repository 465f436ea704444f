import type { Key } from "../../api/entry.ts";
import { type Revision, toRevision } from "../../api/revision.ts";
import { thrownText } from "../../process/thrown-text.ts";
import type { AppliedFeed } from "../applied-feed.ts";
import { differences } from "../state-difference.ts";
import { CorruptEntryError, type StoreEvent, UndecryptableEntryError } from "../store.ts";
import { type Change, ChangeReader } from "./change-reader.ts";
import type { EtcdClient } from "./client/etcd-client.ts";
import { EtcdError } from "./client/etcd-error.ts";
import { eventType, methods, numberOf, type WatchEvent } from "./client/messages.ts";
import type { CompactedMark } from "./compacted-mark.ts";
import { deletedEntry, type ReadEntry, readEntry } from "./entry-reader.ts";
import { rangeOfPrefix, wholeKeySpace } from "./key-range.ts";
import type { EtcdLayout } from "./layout/layout.ts";
import { loadObjects } from "./load-objects.ts";
import { MirrorObjects } from "./mirror-objects.ts";
import type { PendingWrites } from "./pending-writes.ts";
import { rootPrefix } from "./root-prefix.ts";
import { revisionOf } from "./watch-batch.ts";

/** Pauses between attempts to watch: the first one, and the longest one. */
const pauseMsMin = 50;
const pauseMsMax = 2_000;
/** Maximum time to read an object again, and number of objects that are read together. */
const reopenTimeoutMs = 10_000;
const reopenObjectsMax = 100;

export interface EtcdMirrorParts {
  readonly client: EtcdClient;
  readonly layout: EtcdLayout;
  readonly feed: AppliedFeed;
  readonly pending: PendingWrites;
  readonly compacted: CompactedMark;
  /** Confirms the newest revision of etcd, and fails if etcd went back. */
  readonly confirm: () => Promise<unknown>;
  /** Called when the watch ends, or cannot be opened. It is opened again. */
  readonly onInterrupted: (reason: string) => void;
  /** Called when the mirror missed changes, and has loaded all objects again. */
  readonly onReloaded: (revision: Revision) => void;
}

/** A copy of the objects in etcd that follows every change. */
export class EtcdMirror implements Disposable {
  readonly #parts: EtcdMirrorParts;
  #objects = new MirrorObjects(toRevision(0));
  #watch: Disposable | undefined;
  #isClosed = false;

  constructor(parts: EtcdMirrorParts) {
    this.#parts = parts;
  }

  get objects(): MirrorObjects {
    return this.#objects;
  }

  /** Loads all objects. @throws EtcdError */
  async load(): Promise<void> {
    this.#objects = await this.#loaded();
  }

  /**
   * Follows all changes until disposed. Resolves when etcd watches for the first time.
   * @throws EtcdError if etcd denies that
   */
  follow(): Promise<void> {
    const watching = Promise.withResolvers<void>();
    void this.#follow(watching.resolve, watching.reject);
    return watching.promise;
  }

  /** Tries to read again what could not be decrypted. @throws EtcdError */
  async reopen(): Promise<void> {
    const unopened = [...this.#objects.corrupt.values()].filter((one) => one instanceof UndecryptableEntryError);
    for (let from = 0; from < unopened.length && !this.#isClosed; from += reopenObjectsMax) {
      const errors = unopened.slice(from, from + reopenObjectsMax);
      this.#recover(errors, await Promise.all(errors.map(({ key }) => this.#read(key))));
    }
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#watch?.[Symbol.dispose]();
  }

  async #follow(onWatching: () => void, onDenied: (error: EtcdError) => void): Promise<void> {
    let pauseMs = pauseMsMin;
    const onCreated = () => {
      pauseMs = pauseMsMin;
      onWatching();
    };
    while (!this.#isClosed) {
      try {
        await this.#followOnce(onCreated);
      } catch (error) {
        if (this.#isClosed) return;
        if (error instanceof EtcdError && error.kind === "denied") onDenied(error);
        this.#parts.onInterrupted(thrownText(error));
        await this.#parts.client.pause(pauseMs);
        pauseMs = Math.min(2 * pauseMs, pauseMsMax);
      }
    }
  }

  async #read(key: Key): Promise<ReadEntry | undefined> {
    const { client, layout } = this.#parts;
    const { kvs } = await client.repeat(methods.range, { key: layout.etcdKey(key) }, reopenTimeoutMs);
    return kvs[0] === undefined ? undefined : readEntry(layout, key, kvs[0]);
  }

  /** Shows and publishes objects in one turn, so that no list lacks an object that is there. */
  #recover(errors: readonly CorruptEntryError[], found: readonly (ReadEntry | undefined)[]): void {
    const recovered: StoreEvent[] = [];
    for (const [at, error] of errors.entries()) {
      const read = found[at];
      // The watch may have delivered a change meanwhile.
      if (read === undefined || read instanceof Error || this.#objects.corrupt.get(error.key) !== error) continue;
      if (read.revision > this.#objects.revision) continue;
      this.#objects.put(read);
      recovered.push({ revision: read.revision, type: "ADDED", entry: read, previous: undefined });
    }
    if (recovered.length > 0) this.#parts.feed.publish(recovered, this.#objects.revision, true);
  }

  /** Watches from the next revision on. Rejects when the watch ends. */
  async #followOnce(onCreated: () => void): Promise<void> {
    const { client } = this.#parts;
    await this.#parts.confirm();
    if (this.#isClosed) return;
    const ended = Promise.withResolvers<never>();
    const reader = new ChangeReader(
      (event) => this.#decode(event),
      (changes) => this.#apply(changes),
      (error) => ended.reject(error),
    );
    const startRevision = this.#objects.revision + 1;
    const request = { ...wholeKeySpace, startRevision, fragment: true };
    const watch = client.watch(request, {
      response: (response) => {
        if (response.created && !response.canceled) onCreated();
        reader.add(response);
      },
      ended: (error) => ended.reject(error),
    });
    this.#watch = watch;
    try {
      await ended.promise;
    } catch (error) {
      watch[Symbol.dispose]();
      await reader.idle();
      if (!(error instanceof EtcdError) || error.kind !== "compacted") throw error;
      await this.#reload();
    }
  }

  async #loaded(): Promise<MirrorObjects> {
    const { client, layout } = this.#parts;
    const range = rangeOfPrefix(layout.etcdKey(rootPrefix));
    for (;;) {
      try {
        const { revision, found } = await loadObjects(client, layout, range);
        return new MirrorObjects(revision, found);
      } catch (error) {
        // A load that takes longer than the history lasts begins again.
        if (!(error instanceof EtcdError) || error.kind !== "compacted") throw error;
      }
    }
  }

  /** Takes over the current state as a whole, because the changes up to it are compacted. */
  async #reload(): Promise<void> {
    const { feed, pending, onReloaded } = this.#parts;
    const before = this.#objects;
    const after = await this.#loaded();
    this.#objects = after;
    pending.skip();
    feed.publish(differences(before, after), after.revision, true);
    onReloaded(after.revision);
  }

  #decode(event: WatchEvent): Change | Promise<Change> {
    const { layout, pending } = this.#parts;
    const { kv, type } = event;
    const etcdKey = kv.key.toString();
    const key = layout.keyOf(etcdKey);
    if (key === undefined || type === eventType.delete) return { event, etcdKey, key, read: undefined };
    const revision = toRevision(numberOf(kv.modRevision));
    const createRevision = toRevision(numberOf(kv.createRevision));
    const own = pending.entryOf(etcdKey, kv.value, revision, createRevision);
    const read = own ?? readEntry(layout, key, kv);
    return read instanceof Promise
      ? read.then((read) => ({ event, etcdKey, key, read }))
      : { event, etcdKey, key, read };
  }

  #apply(changes: readonly Change[]): void {
    const { feed, pending, compacted } = this.#parts;
    const last = changes.at(-1);
    if (last === undefined || this.#isClosed) return;
    const events: StoreEvent[] = [];
    for (const { event, etcdKey, key, read } of changes) {
      compacted.observe(event);
      const revision = toRevision(revisionOf(event));
      if (key === undefined) continue;
      const applied = this.#applyOne(key, read, revision);
      if (applied !== undefined) events.push(applied);
      pending.record(etcdKey, {
        revision,
        value: event.type === eventType.delete ? undefined : event.kv.value,
        isCreation: numberOf(event.kv.createRevision) === revision,
        entry: read instanceof Error ? undefined : (read ?? applied?.entry),
      });
    }
    this.#objects.revision = toRevision(revisionOf(last.event));
    feed.publish(events, this.#objects.revision);
  }

  #applyOne(key: Key, read: ReadEntry | undefined, revision: Revision): StoreEvent | undefined {
    const previous = this.#objects.get(key);
    if (read !== undefined && !(read instanceof CorruptEntryError)) {
      this.#objects.put(read);
      return { revision, type: previous === undefined ? "ADDED" : "MODIFIED", entry: read, previous };
    }
    if (read === undefined) this.#objects.remove(key);
    else this.#objects.putCorrupt(read);
    if (previous === undefined) return undefined;
    return { revision, type: "DELETED", entry: deletedEntry(previous, revision), previous };
  }
}
