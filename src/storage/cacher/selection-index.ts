import type { Key } from "../../api/entry.ts";
import type { StoreEvent } from "../store.ts";
import type { Facet, Pin } from "./facet.ts";
import type { CacherLimits } from "./limits.ts";
import { Postings } from "./postings.ts";
import { type EntryTree, prefixEnd } from "./tree.ts";

/** Entries examined in vain, in sizes of the resource, after which a facet gets postings: soon after the second scan. */
const scansInVain = 1.5;
/** Share of the resource up to which the entries of several values are put in order. A scan is cheaper beyond. */
const unionShareMax = 1 / 8;

interface Followed {
  readonly postings: Postings;
  usedMs: number;
}

/**
 * Postings for the facets of one resource that readers select by. Scans that find little pay for postings, as they
 * would for a cache. Nobody configures them: postings come with use, and go without it.
 */
export class SelectionIndex {
  readonly #prefix: Key;
  readonly #limits: CacherLimits;
  /** Entries that scans examined in vain for a facet without postings. Halved at each `trim`. */
  readonly #inVain = new Map<Facet, number>();
  /** Least recently used first. */
  readonly #followed = new Map<Facet, Followed>();

  constructor(prefix: Key, limits: CacherLimits) {
    this.#prefix = prefix;
    this.#limits = limits;
  }

  /** The facets that have postings, or will soon. */
  get facets(): Facet[] {
    return [...this.#followed.keys()];
  }

  /**
   * Returns a part of the newest state that contains the whole selection. Returns undefined if it takes a scan. The next
   * event may change the tree.
   */
  select(pins: readonly Pin[], size: number, nowMs: number): EntryTree | undefined {
    let best: (() => EntryTree) | undefined;
    let bestCount = Number.POSITIVE_INFINITY;
    for (const { facet, values } of pins) {
      const followed = this.#followed.get(facet);
      if (followed === undefined) continue;
      this.#use(facet, followed, nowMs);
      const { postings } = followed;
      if (!postings.isComplete) continue;
      const count = postings.count(values);
      if (count >= bestCount || (values.length > 1 && count > size * unionShareMax)) continue;
      best = () => postings.select(values);
      bestCount = count;
    }
    return best?.();
  }

  /** Counts entries that were examined in vain. Returns true if a facet gets postings, which `build` then reads. */
  examinedInVain(pins: readonly Pin[], count: number, size: number, nowMs: number): boolean {
    if (size < this.#limits.postedResourceMin) return false;
    for (const { facet } of pins) {
      if (this.#followed.has(facet)) continue;
      const inVain = (this.#inVain.get(facet) ?? 0) + count;
      if (inVain < size * scansInVain) {
        if (this.#inVain.has(facet) || this.#inVain.size < this.#limits.candidateFacetsMax) {
          this.#inVain.set(facet, inVain);
        }
        continue;
      }
      // One facet is usually enough for a selection. The others count from the beginning.
      for (const pin of pins) this.#inVain.delete(pin.facet);
      if (this.#followed.size >= this.#limits.postedFacetsMax) return false;
      if (this.#size + size > this.#limits.postedEntriesMax) return false;
      this.#followed.set(facet, { postings: new Postings(facet, this.#prefix), usedMs: nowMs });
      return true;
    }
    return false;
  }

  /** Reads a part of the current state for new postings. Returns true if there is more to read. */
  build(tree: EntryTree): boolean {
    for (const { postings } of this.#followed.values()) {
      if (postings.isComplete) continue;
      postings.read(tree, prefixEnd(this.#prefix), this.#limits.postedStepMax);
      return true;
    }
    return false;
  }

  apply(event: StoreEvent): void {
    if (this.#followed.size === 0) return;
    for (const { postings } of this.#followed.values()) postings.apply(event);
    if (event.type === "ADDED") this.#dropBeyondLimit();
  }

  /** Drops postings that have not been used recently. */
  trim(nowMs: number): void {
    for (const [facet, { usedMs }] of this.#followed) {
      if (nowMs - usedMs > this.#limits.postedAgeMs) this.#followed.delete(facet);
    }
    for (const [facet, count] of this.#inVain) {
      if (count < 2) this.#inVain.delete(facet);
      else this.#inVain.set(facet, count / 2);
    }
  }

  get #size(): number {
    let size = 0;
    for (const { postings } of this.#followed.values()) size += postings.size;
    return size;
  }

  #use(facet: Facet, followed: Followed, nowMs: number): void {
    followed.usedMs = nowMs;
    this.#followed.delete(facet);
    this.#followed.set(facet, followed);
  }

  #dropBeyondLimit(): void {
    if (this.#size <= this.#limits.postedEntriesMax) return;
    const [unused] = this.#followed.keys();
    if (unused !== undefined) this.#followed.delete(unused);
  }
}
