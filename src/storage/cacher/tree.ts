import sortedBTree from "sorted-btree";
import type { Entry, Key } from "../../api/entry.ts";
import { compareKeys } from "../key-order.ts";

/** Entries of one resource in key order. `clone()` is O(1): the trees share nodes until one of them is written. */
export type EntryTree = sortedBTree<Key, Entry>;

/** A bundler exposes a CommonJS module's exports as its default. Bun exposes the default as one of those exports. */
const BTree = (sortedBTree as typeof sortedBTree & { readonly default?: typeof sortedBTree }).default ?? sortedBTree;

const nodeSizeMax = 64;

/** Builds a tree from `entries` in any order. Sorted entries are fastest. */
export function entryTree(entries: readonly Entry[] = []): EntryTree {
  const tree: EntryTree = new BTree<Key, Entry>(undefined, compareKeys, nodeSizeMax);
  for (const entry of entries) tree.set(entry.key, entry);
  return tree;
}

/** Returns the first key after all keys that begin with `prefix`. */
export function prefixEnd(prefix: Key): Key {
  return prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
}

/** Visits entries with `low <= key < high` in order, until `visit` returns false. */
export function forEntries(tree: EntryTree, low: Key, high: Key, visit: (entry: Entry) => boolean): void {
  const step = (_key: Key, entry: Entry): { break: true } | undefined => (visit(entry) ? undefined : { break: true });
  tree.forRange(low, high, false, step as (key: Key, entry: Entry) => void);
}

/** Counts entries with `low <= key < high`. The cost depends on the number of nodes, not entries. */
export function countEntries(tree: EntryTree, low: Key, high: Key): number {
  return tree.forRange(low, high, false);
}
