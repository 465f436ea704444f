import type { Index, RequestId } from "./core/ids.ts";
import type { Waiter } from "./waiter.ts";

/**
 * Reads on their way: waiting to be asked for, asked for and not confirmed, confirmed and waiting for the state machine.
 * All that come in one turn share a question, which is asked after the last of them arrived.
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

  /** A late answer, to a question that was given up, confirms nothing. */
  confirmed(id: RequestId, index: Index): void {
    for (const waiter of this.#takeAsked(id)) this.#confirmed.push({ index, waiter });
  }

  /** Nobody will answer what was asked. */
  takeAllAsked(): readonly Waiter<Index>[] {
    const asked = [...this.#asked.values()].flat();
    this.#asked.clear();
    return asked;
  }

  takeRefused(id: RequestId): readonly Waiter<Index>[] {
    return this.#takeAsked(id);
  }

  /** Those that the state machine has come far enough for. */
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
