import type { Entry } from "./core/entry.ts";
import type { Index, MemberId, RequestId, Term } from "./core/ids.ts";
import type { NodeObserver } from "./node-observer.ts";
import type { Waiter } from "./waiter.ts";

const recentResultsMax = 4096;

interface Appended<T> {
  readonly term: Term;
  readonly waiter: Waiter<T>;
}

/**
 * The waiters by position in the log. A committed entry with the same position and term is the proposed one (log
 * matching, thesis §3.5); with another term, the proposal is lost for good.
 */
export class PendingEntries<T> {
  readonly #waiters = new Map<Index, Appended<T>>();

  get size(): number {
    return this.#waiters.size;
  }

  /**
   * Adds a waiter. Answers may overtake each other, so a waiter of an older term may hold the position; returns it,
   * because its entry may still be committed if the later leader's entry has reached no other member (thesis §3.6.2).
   */
  add(index: Index, term: Term, waiter: Waiter<T>): Waiter<T> | undefined {
    const before = this.#waiters.get(index);
    if (before !== undefined && before.term > term) return waiter;
    // Keep the map in the order of the deadlines.
    if (before !== undefined) this.#waiters.delete(index);
    this.#waiters.set(index, { term, waiter });
    return before?.waiter;
  }

  /** Returns how long ago the first of these entries was proposed, if it was proposed here. */
  observeCommit([first]: readonly Entry[], limitMs: number, observer: Partial<NodeObserver>): void {
    const found = first === undefined ? undefined : this.#waiters.get(first.index);
    if (found !== undefined) observer.committed?.(performance.now() - (found.waiter.deadlineMs - limitMs));
  }

  /** Takes the waiter at the position of a committed entry, and whether it waits for exactly this entry. */
  take({ index, term }: Entry): { readonly waiter: Waiter<T>; readonly isIt: boolean } | undefined {
    const found = this.#waiters.get(index);
    if (found === undefined) return undefined;
    this.#waiters.delete(index);
    return { waiter: found.waiter, isIt: found.term === term };
  }

  /** Takes every waiter at or before `index`, because their outcomes will no longer be seen. */
  takeUpTo(index: Index): Waiter<T>[] {
    return this.#takeWhere((at) => at <= index);
  }

  /** Takes the expired waiters. Checks the oldest first, and stops at the first that is not expired. */
  takeExpired(nowMs: number): Waiter<T>[] {
    const [oldest] = this.#waiters.values();
    if (oldest === undefined || oldest.waiter.deadlineMs > nowMs) return [];
    return this.#takeWhere((_, { waiter }) => waiter.deadlineMs <= nowMs);
  }

  /** Takes every waiter of an earlier term. Terms never decrease, so their entries are lost. */
  takeBefore(before: Term): Waiter<T>[] {
    return this.#takeWhere((_, { term }) => term < before);
  }

  takeAll(): Waiter<T>[] {
    return this.#takeWhere(() => true);
  }

  #takeWhere(condition: (index: Index, appended: Appended<T>) => boolean): Waiter<T>[] {
    const taken: Waiter<T>[] = [];
    for (const [index, appended] of this.#waiters) {
      const { waiter } = appended;
      if (!condition(index, appended)) continue;
      this.#waiters.delete(index);
      taken.push(waiter);
    }
    return taken;
  }
}

/** Results of forwarded proposals that were applied before their answers arrived. */
export class RecentResults<T> {
  readonly #results = new Map<Index, { readonly term: Term; readonly result: T }>();

  add({ index, term }: Entry, result: T): void {
    this.#results.set(index, { term, result });
    if (this.#results.size <= recentResultsMax) return;
    const [oldest] = this.#results.keys();
    if (oldest !== undefined) this.#results.delete(oldest);
  }

  get(index: Index): { readonly term: Term; readonly result: T } | undefined {
    return this.#results.get(index);
  }
}

interface Asked<T> {
  readonly of: MemberId;
  readonly waiter: Waiter<T>;
}

/** The waiters by request, with the member that was asked. */
export class PendingRequests<T> {
  readonly #waiters = new Map<RequestId, Asked<T>>();

  get size(): number {
    return this.#waiters.size;
  }

  add(id: RequestId, of: MemberId, waiter: Waiter<T>): void {
    this.#waiters.set(id, { of, waiter });
  }

  take(id: RequestId): Waiter<T> | undefined {
    const asked = this.#waiters.get(id);
    this.#waiters.delete(id);
    return asked?.waiter;
  }

  /** Takes the requests to a member that will no longer answer. */
  takeOf(member: MemberId): Waiter<T>[] {
    const taken: Waiter<T>[] = [];
    for (const [id, { of, waiter }] of this.#waiters) {
      if (of !== member) continue;
      this.#waiters.delete(id);
      taken.push(waiter);
    }
    return taken;
  }

  /** Takes the expired waiters, which are in the order of their deadlines. */
  takeExpired(nowMs: number): Waiter<T>[] {
    const taken: Waiter<T>[] = [];
    for (const [id, { waiter }] of this.#waiters) {
      if (waiter.deadlineMs > nowMs) break;
      this.#waiters.delete(id);
      taken.push(waiter);
    }
    return taken;
  }

  takeAll(): Waiter<T>[] {
    const all = [...this.#waiters.values()].map(({ waiter }) => waiter);
    this.#waiters.clear();
    return all;
  }
}
