import type { Clock } from "../api/clock.ts";
import { StatusError } from "../api/status.ts";
import type { Key, Store, StoreEvent } from "../storage/store.ts";

/** First delay after a failure. It doubles with each failure up to the maximum. */
const retryMsMin = 100;
const retryMsMax = 60_000;

export interface WorkQueueOptions {
  readonly clock: Clock;
  /** Handles a key with the currently stored state. */
  work(key: Key): Promise<void>;
  /** Receives failures other than a registry's rejection, which is retried silently. */
  onError(error: unknown): void;
}

/**
 * Handles keys one after another, each once however often it is added. A failed key is retried later. The number of
 * existing objects limits the queue.
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
    // Runs outside of the caller's turn, because the store's listeners must return at once.
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
