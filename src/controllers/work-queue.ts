import type { Key } from "../api/entry.ts";
import { StatusError } from "../api/status.ts";
import type { Clock } from "../process/clock.ts";
import type { Store, StoreEvent } from "../storage/store.ts";
import { RetryBudget } from "./retry-budget.ts";

/** First delay after a failure. It doubles with each failure up to the maximum. */
const retryMsMin = 100;
const retryMsMax = 60_000;

/** Measures one queue. A key is known by its name from when it waits until the work on it has ended. */
export interface WorkQueueObserver extends Disposable {
  added(key: Key): void;
  started(key: Key): void;
  ended(key: Key): void;
  retried(): void;
}

/** Measures queues. Several queues may have one name. */
export interface QueueSource {
  readonly observeQueue?: ((name: string) => WorkQueueObserver) | undefined;
}

export interface WorkQueueOptions extends QueueSource {
  /** Name in metrics, upstream's where upstream has such a queue. */
  readonly name: string;
  readonly clock: Clock;
  /** Keys that are worked on at a time, each by one worker; 1 by default. */
  readonly workers?: number | undefined;
  /** Failures in a row after which a key is given up until it is added again; by default never. */
  readonly failuresMax?: number | undefined;
  /** Brings what the key names to where it should be, from what is stored now. */
  work(key: Key): Promise<void>;
  /** Receives failures other than a registry's rejection, which is retried silently. */
  onError(error: unknown): void;
}

/**
 * Keys to look at, each at most once however often it is added, and never by two workers at a time. One that fails is
 * looked at again later; all retries together have a budget. As many keys wait at most as there are objects to name.
 */
export class WorkQueue implements Disposable {
  readonly #options: WorkQueueOptions;
  readonly #workersMax: number;
  readonly #budget: RetryBudget;
  readonly #observer: WorkQueueObserver | undefined;
  readonly #waiting = new Set<Key>();
  /** Added while they are worked on: they wait once more when that is done. */
  readonly #again = new Set<Key>();
  readonly #working = new Set<Key>();
  readonly #later = new Map<Key, Disposable>();
  readonly #failures = new Map<Key, number>();
  /** Workers that are started or about to be. */
  #workers = 0;
  #stopped = false;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
    this.#workersMax = options.workers ?? 1;
    this.#budget = new RetryBudget(options.clock);
    this.#observer = options.observeQueue?.(options.name);
  }

  add(key: Key): void {
    if (this.#stopped) return;
    if (this.#working.has(key)) {
      this.#again.add(key);
      return;
    }
    this.#wait(key);
    if (this.#workers >= this.#workersMax) return;
    this.#workers++;
    // Off the caller's turn: the store's listeners must return at once.
    setImmediate(() => void this.#run());
  }

  /** Handles the key after `delayMs`, replacing an earlier plan. */
  addAfter(key: Key, delayMs: number): void {
    this.#later.get(key)?.[Symbol.dispose]();
    if (this.#stopped) return;
    const timer = this.#options.clock.after(delayMs, () => {
      this.#later.delete(key);
      this.add(key);
    });
    this.#later.set(key, timer);
  }

  /** Cancels the plan for a key. A key that waits already is handled nevertheless. */
  cancel(key: Key): void {
    this.#later.get(key)?.[Symbol.dispose]();
    this.#later.delete(key);
  }

  [Symbol.dispose](): void {
    this.#stopped = true;
    for (const timer of this.#later.values()) timer[Symbol.dispose]();
    this.#later.clear();
    this.#waiting.clear();
    this.#again.clear();
    this.#observer?.[Symbol.dispose]();
  }

  #wait(key: Key): void {
    if (!this.#waiting.has(key)) this.#observer?.added(key);
    this.#waiting.add(key);
  }

  async #run(): Promise<void> {
    for (const key of this.#waiting) {
      this.#waiting.delete(key);
      this.#working.add(key);
      this.#observer?.started(key);
      try {
        await this.#options.work(key);
        this.#failures.delete(key);
      } catch (error) {
        this.#retry(key, error);
      } finally {
        this.#working.delete(key);
        this.#observer?.ended(key);
      }
      if (this.#stopped) break;
      if (this.#again.delete(key)) this.#wait(key);
    }
    this.#workers--;
  }

  #retry(key: Key, error: unknown): void {
    if (this.#stopped) return;
    if (!(error instanceof StatusError)) this.#options.onError(error);
    const failures = (this.#failures.get(key) ?? 0) + 1;
    if (failures >= (this.#options.failuresMax ?? Number.POSITIVE_INFINITY)) {
      this.#failures.delete(key);
      return;
    }
    this.#failures.set(key, failures);
    this.#observer?.retried();
    const waitMs = Math.min(retryMsMax, retryMsMin * 2 ** (failures - 1));
    this.addAfter(key, Math.max(waitMs, this.#budget.take()));
  }
}

/** Reports every object below `prefix`: existing ones as ADDED, then every change. */
export function followObjects(
  store: Store,
  prefix: Key,
  onChange: (key: Key, type: StoreEvent["type"]) => void,
): Disposable {
  for (const { key } of store.scan(prefix)) onChange(key, "ADDED");
  return store.subscribe((events) => {
    for (const { entry, type } of events) if (entry.key.startsWith(prefix)) onChange(entry.key, type);
  });
}
