import type { Entry, Key } from "../../api/entry.ts";
import type { Revision } from "../../api/revision.ts";
import { KeyOrder } from "../key-order.ts";
import type { CorruptEntryError } from "../store.ts";

/** The objects in etcd at one revision, in memory. */
export class MirrorObjects {
  readonly #entries = new Map<Key, Entry>();
  readonly #corrupt = new Map<Key, CorruptEntryError>();
  readonly #order: KeyOrder;
  revision: Revision;

  /** `found` must be in key order. */
  constructor(revision: Revision, found: readonly (Entry | CorruptEntryError)[] = []) {
    this.revision = revision;
    const keys: Key[] = [];
    for (const one of found) {
      if (one instanceof Error) {
        this.#corrupt.set(one.key, one);
        continue;
      }
      this.#entries.set(one.key, one);
      keys.push(one.key);
    }
    this.#order = new KeyOrder((key) => this.#entries.has(key), keys);
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Objects that cannot be decoded. */
  get corrupt(): ReadonlyMap<Key, CorruptEntryError> {
    return this.#corrupt;
  }

  get(key: Key): Entry | undefined {
    return this.#entries.get(key);
  }

  entries(): IterableIterator<Entry> {
    return this.#entries.values();
  }

  /** Returns at most `limit` entries whose key starts with `prefix` and is >= `start`, in key order. */
  scan(prefix: Key, start: Key = prefix, limit = Number.POSITIVE_INFINITY): Entry[] {
    return this.#order.scan(prefix, start, limit, (key) => this.#entries.get(key) as Entry);
  }

  put(entry: Entry): void {
    if (!this.#entries.has(entry.key)) this.#order.add(entry.key);
    this.#entries.set(entry.key, entry);
    this.#corrupt.delete(entry.key);
  }

  remove(key: Key): void {
    if (this.#entries.delete(key)) this.#order.remove(key);
    this.#corrupt.delete(key);
  }

  /** Takes an object out of all lists because its new value cannot be decoded. */
  putCorrupt(error: CorruptEntryError): void {
    this.remove(error.key);
    this.#corrupt.set(error.key, error);
  }
}
