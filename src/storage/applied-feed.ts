import type { Revision } from "../api/revision.ts";
import type { Clock } from "../process/clock.ts";
import type { EventListener, StoreEvent } from "./store.ts";

interface Waiter {
  readonly revision: Revision;
  readonly settle: (reached: boolean) => void;
}

/** Notifies listeners and waiters of changes that have become visible. */
export class AppliedFeed {
  readonly #clock: Clock;
  readonly #listeners = new Set<{ readonly listener: EventListener }>();
  readonly #waiters = new Set<Waiter>();
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  subscribe(listener: EventListener): Disposable {
    const subscription = { listener };
    this.#listeners.add(subscription);
    return { [Symbol.dispose]: () => void this.#listeners.delete(subscription) };
  }

  /** Publishes one batch. Call it once per batch, after the state shows the batch and before its writers are answered. */
  publish(events: readonly StoreEvent[], revision: Revision, jumped = false): void {
    for (const { listener } of this.#listeners) {
      try {
        listener(events, revision, jumped);
      } catch (error) {
        // A bug in one listener must not leave the other listeners or a durable write without an answer.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
    if (this.#waiters.size === 0) return;
    for (const waiter of this.#waiters) if (waiter.revision <= revision) waiter.settle(true);
  }

  /** Resolves with true once `revision` is published, and with false after `timeoutMs` or when the store closes. */
  waitFor(revision: Revision, current: Revision, timeoutMs: number): Promise<boolean> {
    if (current >= revision) return Promise.resolve(true);
    if (timeoutMs <= 0 || this.#closed) return Promise.resolve(false);
    return new Promise((resolve) => {
      const waiter: Waiter = {
        revision,
        settle: (reached) => {
          this.#waiters.delete(waiter);
          timer[Symbol.dispose]();
          resolve(reached);
        },
      };
      const timer = this.#clock.after(timeoutMs, () => waiter.settle(false));
      this.#waiters.add(waiter);
    });
  }

  close(): void {
    this.#closed = true;
    this.#listeners.clear();
    for (const waiter of this.#waiters) waiter.settle(false);
  }
}
