import type { Key } from "../api/entry.ts";

/** Number of additions that causes a merge, so that a store that is never scanned does not collect keys without end. */
const additionsMax = 65_536;

/**
 * The keys in order. They are sorted only when read: a write costs one push, a scan one merge. Deleted keys stay until
 * the next merge; `isLive` tells them apart.
 */
export class KeyOrder {
  readonly #isLive: (key: Key) => boolean;
  #sorted: Key[];
  #added: Key[] = [];
  #removed = false;

  /** `sorted` must be in ascending order. */
  constructor(isLive: (key: Key) => boolean, sorted: Key[] = []) {
    this.#isLive = isLive;
    this.#sorted = sorted;
  }

  add(key: Key): void {
    this.#added.push(key);
    if (this.#added.length >= additionsMax) this.#merge();
  }

  remove(): void {
    this.#removed = true;
  }

  /** Returns all live keys in ascending order. The array is valid until the next write. */
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
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] as Key) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
