import type { Entry, Key } from "../../api/entry.ts";
import type { StoreEvent } from "../store.ts";
import { type Facet, type FacetReader, facetReader } from "./facet.ts";
import { type EntryTree, entryTree, forEntries } from "./tree.ts";

/** The entries with one value. Many values, such as uids, have a single entry. */
type Posting = Entry | EntryTree;

/**
 * The entries of a resource by their value of one facet. Reads the entries that exist in steps, and follows events
 * meanwhile.
 */
export class Postings {
  readonly #valueOf: FacetReader;
  readonly #byValue = new Map<string, Posting>();
  #size = 0;
  /** The first key that is not read yet; undefined when the postings are complete. */
  #unread: Key | undefined;

  /** @param first the first key of the resource */
  constructor(facet: Facet, first: Key) {
    this.#valueOf = facetReader(facet);
    this.#unread = first;
  }

  /** Number of entries. */
  get size(): number {
    return this.#size;
  }

  get isComplete(): boolean {
    return this.#unread === undefined;
  }

  /** Number of entries with one of these values. */
  count(values: readonly string[]): number {
    let count = 0;
    for (const value of values) {
      const posting = this.#byValue.get(value);
      if (posting !== undefined) count += isTree(posting) ? posting.size : 1;
    }
    return count;
  }

  /** Returns the entries with one of these values. The next event may change the tree. */
  select(values: readonly string[]): EntryTree {
    const [only] = values;
    if (values.length === 1 && only !== undefined) {
      const posting = this.#byValue.get(only);
      return posting !== undefined && isTree(posting) ? posting : entryTree(posting === undefined ? [] : [posting]);
    }
    const found: Entry[] = [];
    for (const value of values) {
      const posting = this.#byValue.get(value);
      if (posting === undefined) continue;
      if (isTree(posting)) posting.forEachPair((_key, entry) => void found.push(entry));
      else found.push(posting);
    }
    return entryTree(found);
  }

  /** Reads at most `max` further entries of the current state below `high`. */
  read(tree: EntryTree, high: Key, max: number): void {
    if (this.#unread === undefined) return;
    let left = max;
    let next: Key | undefined;
    forEntries(tree, this.#unread, high, (entry) => {
      if (left-- === 0) {
        next = entry.key;
        return false;
      }
      this.#set(this.#valueOf(entry), entry);
      return true;
    });
    this.#unread = next;
  }

  apply({ type, entry, previous }: StoreEvent): void {
    if (this.#unread !== undefined && entry.key >= this.#unread) return;
    const before = previous === undefined ? undefined : this.#valueOf(previous);
    const after = type === "DELETED" ? undefined : this.#valueOf(entry);
    if (before !== after) this.#delete(before, entry.key);
    this.#set(after, entry);
  }

  #set(value: string | undefined, entry: Entry): void {
    if (value === undefined) return;
    const posting = this.#byValue.get(value);
    if (posting !== undefined && isTree(posting)) {
      if (posting.set(entry.key, entry)) this.#size++;
      return;
    }
    if (posting === undefined) this.#size++;
    if (posting === undefined || posting.key === entry.key) {
      this.#byValue.set(value, entry);
      return;
    }
    this.#size++;
    this.#byValue.set(value, entryTree([posting, entry]));
  }

  #delete(value: string | undefined, key: Key): void {
    const posting = value === undefined ? undefined : this.#byValue.get(value);
    if (value === undefined || posting === undefined) return;
    if (isTree(posting)) {
      if (posting.delete(key)) this.#size--;
      if (posting.size > 0) return;
    } else if (posting.key === key) this.#size--;
    else return;
    this.#byValue.delete(value);
  }
}

function isTree(posting: Posting): posting is EntryTree {
  return !("key" in posting);
}
