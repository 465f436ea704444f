import type { Clock } from "../process/clock.ts";
import { StatusError } from "../api/status.ts";
import type { Store, StoreEvent } from "../storage/store.ts";
import type { Key } from "../api/entry.ts";

/** The first wait after a failure; it doubles from one failure to the next, up to the last. */
const retryMsMin = 100;
const retryMsMax = 60_000;

export interface WorkQueueOptions {
  readonly clock: Clock;
  /** Brings what the key names to where it should be, from what is stored now. */
  work(key: Key): Promise<void>;
  /** Hears of failures that are not the answer of a registry; those are tried again in silence. */
  onError(error: unknown): void;
}

/**
 * Keys to look at, one after another, each at most once however often it is added. One that fails is looked at again
 * later. As many keys wait at most as there are objects to name.
 */
export class WorkQueue implements Disposable {
  readonly #options: WorkQueueOptions;
  readonly #waiting = new Set<Key>();
  readonly #later = new Map<Key, Disposable>();
  readonly #failures = new Map<Key, number>();
  #running = false;
  #stopped = false;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
  }

  add(key: Key): void {
    this.#waiting.add(key);
    if (this.#running || this.#stopped) return;
    this.#running = true;
    // Off the caller's turn: the store's listeners must return at once.
    setImmediate(() => void this.#run());
  }

  /** Looks at the key after `delayMs`, in place of a later look that was planned before. */
  addAfter(key: Key, delayMs: number): void {
    this.#later.get(key)?.[Symbol.dispose]();
    if (this.#stopped) return;
    const timer = this.#options.clock.after(delayMs, () => {
      this.#later.delete(key);
      this.add(key);
    });
    this.#later.set(key, timer);
  }

  [Symbol.dispose](): void {
    this.#stopped = true;
    for (const timer of this.#later.values()) timer[Symbol.dispose]();
    this.#later.clear();
    this.#waiting.clear();
  }

  async #run(): Promise<void> {
    for (const key of this.#waiting) {
      if (this.#stopped) break;
      this.#waiting.delete(key);
      try {
        await this.#options.work(key);
        this.#failures.delete(key);
      } catch (error) {
        this.#retry(key, error);
      }
    }
    this.#running = false;
  }

  #retry(key: Key, error: unknown): void {
    if (this.#stopped) return;
    if (!(error instanceof StatusError)) this.#options.onError(error);
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    this.addAfter(key, Math.min(retryMsMax, retryMsMin * 2 ** failures));
  }
}

/** Tells of every object below `prefix`: of those that are there as ADDED ones, then of every change. */
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
