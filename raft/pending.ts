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
 * Who waits for which place in the log. An entry that comes out at the place with the same term is the one that was
 * proposed (log matching, thesis §3.5); with another term, the proposal is gone for good.
 */
export class PendingEntries<T> {
  readonly #waiters = new Map<Index, Appended<T>>();

  get size(): number {
    return this.#waiters.size;
  }

  /**
   * Returns whose promise is the older one, by terms: answers overtake. Its entry may still be the one that is committed,
   * when the later leader's has reached nobody (thesis §3.6.2).
   */
  add(index: Index, term: Term, waiter: Waiter<T>): Waiter<T> | undefined {
    const before = this.#waiters.get(index);
    if (before !== undefined && before.term > term) return waiter;
    // The oldest stays the first.
    if (before !== undefined) this.#waiters.delete(index);
    this.#waiters.set(index, { term, waiter });
    return before?.waiter;
  }

  /** Tells how long ago the first of these entries was proposed, if it was here. */
  observeCommit([first]: readonly Entry[], limitMs: number, observer: Partial<NodeObserver>): void {
    const found = first === undefined ? undefined : this.#waiters.get(first.index);
    if (found !== undefined) observer.committed?.(performance.now() - (found.waiter.deadlineMs - limitMs));
  }

  /** Who waits at the place of an entry that was committed, and whether for this very entry. */
  take({ index, term }: Entry): { readonly waiter: Waiter<T>; readonly isIt: boolean } | undefined {
    const found = this.#waiters.get(index);
    if (found === undefined) return undefined;
    this.#waiters.delete(index);
    return { waiter: found.waiter, isIt: found.term === term };
  }

  /** Everybody whose entry lies at or before `index`: its fate will not be seen any more. */
  takeUpTo(index: Index): Waiter<T>[] {
    return this.#takeWhere((at) => at <= index);
  }

  /** Looks at the oldest first and no further than it must. */
  takeExpired(nowMs: number): Waiter<T>[] {
    const [oldest] = this.#waiters.values();
    if (oldest === undefined || oldest.waiter.deadlineMs > nowMs) return [];
    return this.#takeWhere((_, { waiter }) => waiter.deadlineMs <= nowMs);
  }

  /** Everybody whose entry is of a term before this one: the log has gone on without them, for terms never go back. */
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

/** Results that went by while the answer to a forwarded proposal was on its way. */
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

/** Who waits for the answer to which request, and of whom it was asked. */
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

  /** What was asked of a member that will not answer any more. */
  takeOf(member: MemberId): Waiter<T>[] {
    const taken: Waiter<T>[] = [];
    for (const [id, { of, waiter }] of this.#waiters) {
      if (of !== member) continue;
      this.#waiters.delete(id);
      taken.push(waiter);
    }
    return taken;
  }

  /** In the order in which they were added, which is that of their deadlines. */
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
