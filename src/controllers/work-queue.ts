import type { Key } from "../api/entry.ts";
import { StatusError } from "../api/status.ts";
import type { Clock } from "../process/clock.ts";
import { RetryBudget } from "./retry-budget.ts";

/** First delay after a failure. It doubles with each further failure, up to the maximum. */
const retryMsMinDefault = 100;
const retryMsMaxDefault = 60_000;
/** Maximum time of a timer. */
const delayMsMax = 2 ** 31 - 1;

/** Asks for another attempt later. The cause is known and needs no line in the log. */
export class RetryError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "RetryError";
  }
}

/** Measures one queue. A key counts from the time when it is added until the work on it has ended. */
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
  /** Name in metrics: upstream's, if upstream has such a queue. */
  readonly name: string;
  readonly clock: Clock;
  /** Number of workers. Each works on one key at a time; 1 by default. */
  readonly workers?: number | undefined;
  /** First and longest delay after failures; 100 ms and a minute by default. */
  readonly retryMsMin?: number | undefined;
  readonly retryMsMax?: number | undefined;
  /** Number of failures in a row after which a key is dropped until it is added again; unlimited by default. */
  readonly failuresMax?: number | undefined;
  /** Reconciles the object that the key names with the state that is stored now. */
  work(key: Key): Promise<void>;
  /** Receives failures, except for rejections by a registry and RetryError, which are retried silently. */
  onError(error: unknown): void;
}

interface PlannedKey {
  readonly timer: Disposable;
  readonly dueMs: number;
}

/**
 * The keys to work on. A key waits at most once however often it is added, and never has two workers. A failed key is
 * retried later; all retries share a budget. The number of objects limits the queue.
 */
export class WorkQueue implements Disposable {
  readonly #options: WorkQueueOptions;
  readonly #workersMax: number;
  readonly #budget: RetryBudget;
  readonly #observer: WorkQueueObserver | undefined;
  readonly #waiting = new Set<Key>();
  /** Keys that were added while they are worked on. They are queued again afterwards. */
  readonly #again = new Set<Key>();
  readonly #working = new Set<Key>();
  readonly #later = new Map<Key, PlannedKey>();
  readonly #failures = new Map<Key, number>();
  /** Number of workers that run or are about to. */
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
    // Start in another turn, because the store's listeners must return at once.
    setImmediate(() => void this.#run());
  }

  /**
   * Handles the key after `delayMs`, or after `delayMsMax` if that is sooner: the work then plans the rest. If the key has
   * a plan already, the sooner one is kept, so a key that is planned again and again is still handled.
   */
  addAfter(key: Key, delayMs: number): void {
    if (this.#stopped) return;
    const { clock } = this.#options;
    const waitMs = Math.min(delayMsMax, delayMs);
    const dueMs = clock.steadyMs() + waitMs;
    const planned = this.#later.get(key);
    if (planned !== undefined && planned.dueMs <= dueMs) return;
    planned?.timer[Symbol.dispose]();
    const timer = clock.after(waitMs, () => {
      this.#later.delete(key);
      this.add(key);
    });
    this.#later.set(key, { timer, dueMs });
  }

  /** Cancels the plan for a key. A key that waits already is handled nevertheless. */
  cancel(key: Key): void {
    this.#later.get(key)?.timer[Symbol.dispose]();
    this.#later.delete(key);
  }

  [Symbol.dispose](): void {
    this.#stopped = true;
    for (const { timer } of this.#later.values()) timer[Symbol.dispose]();
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
    if (!(error instanceof StatusError || error instanceof RetryError)) this.#options.onError(error);
    const failures = (this.#failures.get(key) ?? 0) + 1;
    if (failures >= (this.#options.failuresMax ?? Number.POSITIVE_INFINITY)) {
      this.#failures.delete(key);
      return;
    }
    this.#failures.set(key, failures);
    this.#observer?.retried();
    const { retryMsMin = retryMsMinDefault, retryMsMax = retryMsMaxDefault } = this.#options;
    const waitMs = Math.min(retryMsMax, retryMsMin * 2 ** (failures - 1));
    this.addAfter(key, Math.max(waitMs, this.#budget.take()));
  }
}
