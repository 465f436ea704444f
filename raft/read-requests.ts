import type { Index, RequestId } from "./core/ids.ts";
import type { Waiter } from "./waiter.ts";

/**
 * Reads in three stages: not requested yet, requested and unconfirmed, confirmed and waiting for the state machine. All
 * reads of one turn share one request, which is sent after the last of them arrived.
 */
export class ReadRequests {
  #fresh: Waiter<Index>[] = [];
  readonly #asked = new Map<RequestId, readonly Waiter<Index>[]>();
  #confirmed: { readonly index: Index; readonly waiter: Waiter<Index> }[] = [];

  add(waiter: Waiter<Index>): void {
    this.#fresh.push(waiter);
  }

  takeFresh(): readonly Waiter<Index>[] {
    const fresh = this.#fresh;
    this.#fresh = [];
    return fresh;
  }

  asked(id: RequestId, waiters: readonly Waiter<Index>[]): void {
    this.#asked.set(id, waiters);
  }

  /** Confirms the reads of a request. A late answer to an abandoned request has no effect. */
  confirmed(id: RequestId, index: Index): void {
    for (const waiter of this.#takeAsked(id)) this.#confirmed.push({ index, waiter });
  }

  /** Takes the requested reads, which will not be answered. */
  takeAllAsked(): readonly Waiter<Index>[] {
    const asked = [...this.#asked.values()].flat();
    this.#asked.clear();
    return asked;
  }

  takeRefused(id: RequestId): readonly Waiter<Index>[] {
    return this.#takeAsked(id);
  }

  /** Takes the confirmed reads whose index the state machine has reached. */
  takeReady(applied: Index): readonly Waiter<Index>[] {
    return this.#takeConfirmed(({ index }) => index <= applied);
  }

  takeExpired(nowMs: number): readonly Waiter<Index>[] {
    const isLate = ({ deadlineMs }: Waiter<Index>) => deadlineMs <= nowMs;
    const expired = [...this.#takeConfirmed(({ waiter }) => isLate(waiter))];
    for (const [id, waiters] of this.#asked) {
      if (waiters.some(isLate)) expired.push(...this.#takeAsked(id));
    }
    return expired;
  }

  takeAll(): readonly Waiter<Index>[] {
    return [...this.takeFresh(), ...this.takeAllAsked(), ...this.#takeConfirmed(() => true)];
  }

  #takeAsked(id: RequestId): readonly Waiter<Index>[] {
    const waiters = this.#asked.get(id) ?? [];
    this.#asked.delete(id);
    return waiters;
  }

  #takeConfirmed(condition: (read: { index: Index; waiter: Waiter<Index> }) => boolean): Waiter<Index>[] {
    if (this.#confirmed.length === 0) return [];
    const taken = this.#confirmed.filter(condition);
    if (taken.length > 0) this.#confirmed = this.#confirmed.filter((read) => !condition(read));
    return taken.map(({ waiter }) => waiter);
  }
}
