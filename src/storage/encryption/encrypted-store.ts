import type { Entry, Key } from "../../api/entry.ts";
import type { GroupResource } from "../../api/gvk.ts";
import { groupResourceText } from "../../api/gvk.ts";
import type { Revision } from "../../api/revision.ts";
import type { Clock } from "../../process/clock.ts";
import { AppliedFeed } from "../applied-feed.ts";
import { entryWithRevision } from "../cacher/with-resource-version.ts";
import { IndexCache } from "../mvcc/index-text.ts";
import {
  type ApplyResult,
  type Command,
  CompactedError,
  type CorruptEntryError,
  type EventListener,
  type Store,
  type StoreEvent,
  type StoreUnavailableError,
  UndecryptableEntryError,
} from "../store.ts";
import { isEncrypted } from "./identity.ts";
import type { ResourceTransformer, ResourceTransformers } from "./resource-transformers.ts";
import { ciphertextOf, packObject, sealedBody, sealedIndex, unpackObject } from "./sealed-object.ts";

export interface EncryptedStoreOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly transformers: ResourceTransformers;
  /** Returns the resource of the objects below a key prefix; undefined for records that are not objects. */
  readonly resourceOf: (key: Key) => GroupResource | undefined;
}

/**
 * A Store that encrypts what another one stores. Readers see plain entries. An entry is decrypted when it arrives and
 * its plain form lives as long as the entry. One that cannot be decrypted counts as unreadable: it is in `corrupt`, and
 * in no list and no scan.
 */
export class EncryptedStore implements Store, Disposable {
  readonly #store: Store;
  readonly #feed: AppliedFeed;
  readonly #resourceOf: EncryptedStoreOptions["resourceOf"];
  readonly #indexes = new IndexCache();
  readonly #subscription: Disposable;
  /** Plain forms of encrypted entries, and the reverse. */
  readonly #plain = new WeakMap<Entry, Entry>();
  readonly #sealed = new WeakMap<Entry, Entry>();
  readonly #unreadable = new Map<Key, UndecryptableEntryError>();
  #transformers: ResourceTransformers;

  constructor({ store, clock, transformers, resourceOf }: EncryptedStoreOptions) {
    this.#store = store;
    this.#feed = new AppliedFeed(clock);
    this.#transformers = transformers;
    this.#resourceOf = resourceOf;
    this.#findUnreadable();
    this.#subscription = store.subscribe((events, revision, jumped) => this.#receive(events, revision, jumped));
  }

  get revision(): Revision {
    return this.#store.revision;
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
    this.#transformers = transformers;
    const recovered: StoreEvent[] = [];
    for (const key of [...this.#unreadable.keys()].sort()) {
      const entry = this.get(key);
      if (entry === undefined) continue;
      this.#unreadable.delete(key);
      recovered.push({ revision: entry.revision, type: "ADDED", entry, previous: undefined });
    }
    if (recovered.length > 0) this.#feed.publish(recovered, this.revision, true);
  }

  async commit(command: Command): Promise<ApplyResult> {
    const unreadable = this.#unreadable.size === 0 ? undefined : this.#unreadable.get(command.key);
    if (unreadable !== undefined) return this.#removeUnreadable(command, unreadable);
    const before = command.operation.kind === "delete" ? this.get(command.key) : undefined;
    return this.#readableResult(await this.#store.commit(this.#sealCommand(command, before)), before);
  }

  readBarrier(): Revision | Promise<Revision> {
    return this.#store.readBarrier();
  }

  waitFor(revision: Revision, timeoutMs: number): Promise<boolean> {
    return this.#store.waitFor(revision, timeoutMs);
  }

  get(key: Key): Entry | undefined {
    const entry = this.#store.get(key);
    if (entry === undefined || !isEncrypted(entry.body)) return entry;
    return readable(this.#open(entry));
  }

  scan(prefix: Key): Entry[] {
    const entries = this.#store.scan(prefix);
    if (!entries.some(({ body }) => isEncrypted(body))) return entries;
    return entries.flatMap((entry) => readable(this.#open(entry)) ?? []);
  }

  async scanAt(at: Revision, options: { prefix: Key; start?: Key; limit?: number }): Promise<Entry[]> {
    return (await this.#store.scanAt(at, options)).map((entry) => this.#openPast(entry));
  }

  async eventsAfter(after: Revision, options: { prefix: Key; limit: number }): Promise<StoreEvent[]> {
    return (await this.#store.eventsAfter(after, options)).map((event) => {
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
    const rule = this.#ruleOf(entry.key);
    const sealed = this.#sealed.get(entry);
    if (sealed === undefined) return rule?.encrypts ?? false;
    if (rule === undefined) return true;
    try {
      return this.#decrypt(sealed, rule).isStale;
    } catch {
      return true;
    }
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

  #ruleOf(key: Key): ResourceTransformer | undefined {
    if (this.#transformers.described.length === 0) return undefined;
    const resource = this.#resourceOf(key);
    return resource === undefined ? undefined : this.#transformers.of(resource);
  }

  #sealCommand(command: Command, before: Entry | undefined): Command {
    const { key, operation } = command;
    const rule = this.#ruleOf(key);
    if (rule?.encrypts !== true) return command;
    const { index, body } =
      operation.kind === "put" ? operation : { index: before?.index ?? sealedIndex, body: operation.last };
    const context = { key, resource: this.#resourceText(key) };
    const sealed = sealedBody(rule.transformer.toStorage(packObject(index, body), context));
    return operation.kind === "put"
      ? { ...command, operation: { kind: "put", index: sealedIndex, body: sealed } }
      : { ...command, operation: { kind: "delete", last: sealed } };
  }

  #readableResult(result: ApplyResult, before: Entry | undefined): ApplyResult {
    if (result.kind === "applied") {
      const entry = withIndexOf(this.#mustOpen(result.entry), before);
      return entry === result.entry ? result : { ...result, entry };
    }
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
    await this.#store.commit(this.#sealCommand(replace, undefined));
    return this.#readableResult(await this.#store.commit(this.#sealCommand(command, undefined)), undefined);
  }

  #receive(events: readonly StoreEvent[], revision: Revision, jumped: boolean): void {
    if (jumped) this.#findUnreadable();
    if (!events.some(concernsEncrypted)) return this.#feed.publish(events, revision, jumped);
    const lost = this.#lost(events);
    const visible = events.flatMap((event) => this.#visible(event) ?? []);
    // Watchers cannot be told that an object has become unreadable. They list again, and learn it from the answer.
    this.#feed.publish(visible, revision, jumped || lost);
  }

  /** Reports whether an event makes an object unreadable that readers have seen. */
  #lost(events: readonly StoreEvent[]): boolean {
    return events.some(
      ({ type, entry, previous }) =>
        type !== "DELETED" &&
        previous !== undefined &&
        readable(this.#open(entry)) === undefined &&
        readable(this.#open(previous)) !== undefined,
    );
  }

  /** Returns an event as readers see it; undefined for one of an object that they do not see. */
  #visible(event: StoreEvent): StoreEvent | undefined {
    const { type, revision } = event;
    const opened = this.#open(event.entry);
    const entry = readable(opened);
    const previous = event.previous === undefined ? undefined : readable(this.#open(event.previous));
    const { key } = event.entry;
    if (type === "DELETED") {
      this.#unreadable.delete(key);
      if (previous === undefined) return undefined;
      const last = entry === undefined ? entryWithRevision(previous, revision) : withIndexOf(entry, previous);
      return { revision, type, entry: last, previous };
    }
    if (entry === undefined) {
      if (opened instanceof UndecryptableEntryError) this.#unreadable.set(key, opened);
      return undefined;
    }
    this.#unreadable.delete(key);
    return { revision, type: previous === undefined ? "ADDED" : "MODIFIED", entry, previous };
  }

  /** Decrypts every entry, so that readers do not have to. */
  #findUnreadable(): void {
    this.#unreadable.clear();
    for (const entry of this.#store.scan("/")) {
      const opened = this.#open(entry);
      if (opened instanceof UndecryptableEntryError) this.#unreadable.set(entry.key, opened);
    }
  }

  #mustOpen(entry: Entry): Entry {
    const opened = this.#open(entry);
    if (opened instanceof UndecryptableEntryError) throw opened;
    return opened;
  }

  /** History that an old key encrypted ends like compacted history: clients list again. @throws CompactedError */
  #openPast(entry: Entry): Entry {
    const opened = readable(this.#open(entry));
    if (opened === undefined) throw new CompactedError(this.revision);
    return opened;
  }

  /** Returns the plain form of an entry, or the reason why there is none. */
  #open(entry: Entry): Entry | UndecryptableEntryError {
    if (!isEncrypted(entry.body)) return entry;
    const known = this.#plain.get(entry);
    if (known !== undefined) return known;
    const { key } = entry;
    const rule = this.#ruleOf(key);
    if (rule === undefined)
      return new UndecryptableEntryError(key, "identity transformer tried to read encrypted data");
    try {
      const plain = unpackObject(this.#decrypt(entry, rule).plain, entry, this.#indexes);
      this.#plain.set(entry, plain);
      this.#sealed.set(plain, entry);
      return plain;
    } catch (error) {
      return new UndecryptableEntryError(key, (error as Error).message);
    }
  }

  #decrypt({ key, body, revision }: Entry, { transformer }: ResourceTransformer) {
    return transformer.fromStorage(ciphertextOf(body, revision), { key, resource: this.#resourceText(key) });
  }

  #resourceText(key: Key): string {
    const resource = this.#resourceOf(key);
    return resource === undefined ? "" : groupResourceText(resource);
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
