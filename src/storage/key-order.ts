import type { Key } from "../api/entry.ts";

/** Number of additions that causes a merge, so that a store that is never scanned does not collect keys without end. */
const additionsMax = 65_536;

/** Number of slashes in the common beginning of a part's keys: `/registry/pods/`, `/registry/apps/`. */
const partSlashes = 3;

/**
 * The keys in order, in one part for each API group, or resource of the core group. A change in one part does not make
 * reads of another dearer.
 */
export class KeyOrder {
  readonly #isLive: (key: Key) => boolean;
  readonly #parts = new Map<string, KeyPart>();
  /** Names of the parts in ascending order; undefined after parts came or went. Their keys have the same order. */
  #names: readonly string[] | undefined;

  /** `sorted` must be in ascending order. */
  constructor(isLive: (key: Key) => boolean, sorted: readonly Key[] = []) {
    this.#isLive = isLive;
    for (let begin = 0, end = 0; begin < sorted.length; begin = end) {
      const name = partNameOf(sorted[begin] as Key);
      end = firstIndex(sorted, begin + 1, (key) => partNameOf(key) !== name);
      this.#parts.set(name, new KeyPart(isLive, sorted.slice(begin, end)));
    }
  }

  /** Adds a key that was not live. */
  add(key: Key): void {
    this.#partOf(key).add(key);
  }

  /** Removes a key that was live. */
  remove(key: Key): void {
    const part = this.#partOf(key);
    part.remove();
    if (part.size > 0) return;
    this.#parts.delete(partNameOf(key));
    this.#names = undefined;
  }

  /** Returns what stands at the first `limit` live keys that start with `prefix` and are >= `start`, in key order. */
  scan<T>(prefix: Key, start: Key, limit: number, at: (key: Key) => T): T[] {
    const found: T[] = [];
    const first = start > prefix ? start : prefix;
    for (const keys of this.lists(prefix)) {
      for (let index = lowerBound(keys, first); index < keys.length; index++) {
        const key = keys[index] as Key;
        if (found.length >= limit || !key.startsWith(prefix)) break;
        found.push(at(key));
      }
    }
    return found;
  }

  /**
   * Returns the live keys of the parts that can have keys with the prefix. Each list is in ascending order and follows
   * the one before. They are valid until the next write.
   */
  lists(prefix: Key): readonly (readonly Key[])[] {
    this.#names ??= [...this.#parts.keys()].sort(compareKeys);
    const names = this.#names.filter((name) => name.startsWith(prefix) || prefix.startsWith(name));
    return names.map((name) => (this.#parts.get(name) as KeyPart).keys());
  }

  #partOf(key: Key): KeyPart {
    const name = partNameOf(key);
    let part = this.#parts.get(name);
    if (part === undefined) {
      part = new KeyPart(this.#isLive);
      this.#parts.set(name, part);
      this.#names = undefined;
    }
    return part;
  }
}

/** A part's name is the beginning of its keys. A key with fewer slashes is a part of its own. */
function partNameOf(key: Key): string {
  let end = 0;
  for (let slashes = 0; slashes < partSlashes; slashes++) {
    end = key.indexOf("/", end) + 1;
    if (end === 0) return key;
  }
  return key.slice(0, end);
}

/**
 * Keys in order. They are sorted only when read: a write costs one push, a read after it one merge. Deleted keys stay
 * until the next merge; `isLive` tells them apart.
 */
class KeyPart {
  readonly #isLive: (key: Key) => boolean;
  #sorted: readonly Key[];
  #added: Key[] = [];
  #removed = false;
  #size: number;

  constructor(isLive: (key: Key) => boolean, sorted: readonly Key[] = []) {
    this.#isLive = isLive;
    this.#sorted = sorted;
    this.#size = sorted.length;
  }

  /** Number of live keys. */
  get size(): number {
    return this.#size;
  }

  add(key: Key): void {
    this.#size++;
    this.#added.push(key);
    if (this.#added.length >= additionsMax) this.#merge();
  }

  remove(): void {
    this.#size--;
    this.#removed = true;
  }

  keys(): readonly Key[] {
    if (this.#added.length > 0 || this.#removed) this.#merge();
    return this.#sorted;
  }

  #merge(): void {
    const old = this.#sorted;
    const added = this.#added.sort(compareKeys);
    const merged: Key[] = [];
    let at = 0;
    const push = (key: Key): void => {
      if (merged[merged.length - 1] !== key && this.#isLive(key)) merged.push(key);
    };
    for (const key of added) {
      while (at < old.length && (old[at] as Key) <= key) push(old[at++] as Key);
      push(key);
    }
    while (at < old.length) push(old[at++] as Key);
    this.#sorted = merged;
    this.#added = [];
    this.#removed = false;
  }
}

/** Compares by UTF-16 code unit, as every comparison of keys does. */
export function compareKeys(a: Key, b: Key): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Returns the index of the first key >= `key` in a sorted array. */
export function lowerBound(keys: readonly Key[], key: Key): number {
  return firstIndex(keys, 0, (other) => other >= key);
}

/** Returns the index of the first key from `start` that meets the condition. All keys after that one must meet it, too. */
function firstIndex(keys: readonly Key[], start: number, meets: (key: Key) => boolean): number {
  let low = start;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (meets(keys[middle] as Key)) high = middle;
    else low = middle + 1;
  }
  return low;
}
