import type { Clock } from "../../../process/clock.ts";
import type { Transformer } from "../transformer.ts";

/** About one seed is made per key id and start of a server. */
const seedsMax = 10_000;
const callsMax = 16;
const retryIntervalMs = 3_000;

interface SeedRequest {
  readonly id: string;
  readonly decrypt: () => Promise<Transformer>;
  readonly done: PromiseWithResolvers<void>;
}

export interface SeedCacheOptions {
  readonly clock: Clock;
  /** Called when seeds have become known or have failed, once for those that are asked for at the same time. */
  readonly onNews: () => void;
  readonly onCount: (count: number) => void;
  /** The seeds that are known from the start: those of the same provider before a reload. */
  readonly before?: SeedCache | undefined;
}

/**
 * The seeds of one provider, decrypted. A seed is
 *
 *     unknown ──prepare──→ asked ──→ known            forgotten if it was not used for long
 *                            ↑ ↓
 *                           failed                    asked again every few seconds
 */
export class SeedCache implements Disposable {
  readonly #options: SeedCacheOptions;
  /** By id, the least recently used first. */
  readonly #known: Map<string, Transformer>;
  readonly #asked = new Map<string, SeedRequest>();
  readonly #failed = new Map<string, { readonly request: SeedRequest; readonly error: Error }>();
  readonly #queue: SeedRequest[] = [];
  #calls = 0;
  #hasNews = false;
  #retry: Disposable | undefined;
  #isClosed = false;

  constructor(options: SeedCacheOptions) {
    this.#options = options;
    this.#known = new Map(options.before === undefined ? [] : options.before.#known);
  }

  /** Returns the cipher of a known seed, the reason why there is none, or undefined for one that is not known yet. */
  find(id: string): Transformer | Error | undefined {
    const cipher = this.#known.get(id);
    if (cipher === undefined) {
      return this.#failed.get(id)?.error;
    }
    this.#known.delete(id);
    this.#known.set(id, cipher);
    return cipher;
  }

  add(id: string, cipher: Transformer): void {
    this.#failed.delete(id);
    this.#known.delete(id);
    this.#known.set(id, cipher);
    dropOldest(this.#known);
    this.#options.onCount(this.#known.size);
  }

  /**
   * Asks for a seed that is not known. Returns a promise that resolves when the attempt has ended, the same one for all
   * callers; undefined if there is nothing to wait for.
   */
  prepare(id: string, decrypt: () => Promise<Transformer>): Promise<void> | undefined {
    if (this.#known.has(id) || this.#failed.has(id)) return undefined;
    const asked = this.#asked.get(id);
    if (asked !== undefined) return asked.done.promise;
    const request = { id, decrypt, done: Promise.withResolvers<void>() };
    this.#ask(request);
    return request.done.promise;
  }

  /** Resolves when all running attempts have ended. */
  async idle(): Promise<void> {
    await Promise.all([...this.#asked.values()].map(({ done }) => done.promise));
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#retry?.[Symbol.dispose]();
    this.#queue.length = 0;
  }

  #ask(request: SeedRequest): void {
    this.#asked.set(request.id, request);
    this.#queue.push(request);
    this.#next();
  }

  #next(): void {
    while (this.#calls < callsMax) {
      const request = this.#queue.shift();
      if (request === undefined) return;
      this.#calls++;
      void this.#call(request);
    }
  }

  async #call({ id, decrypt, done }: SeedRequest): Promise<void> {
    try {
      this.add(id, await decrypt());
      this.#hasNews = true;
    } catch (error) {
      this.#fail({ id, decrypt, done }, error instanceof Error ? error : new Error(String(error)));
    }
    this.#calls--;
    this.#asked.delete(id);
    this.#next();
    if (this.#calls === 0 && this.#hasNews) {
      this.#hasNews = false;
      this.#options.onNews();
    }
    done.resolve();
  }

  #fail(request: SeedRequest, error: Error): void {
    if (this.#isClosed) return;
    // A repeated failure changes nothing for readers.
    if (!this.#failed.delete(request.id)) this.#hasNews = true;
    this.#failed.set(request.id, { request, error });
    dropOldest(this.#failed);
    this.#retry ??= this.#options.clock.after(retryIntervalMs, () => this.#askAgain());
  }

  /** Asks for the seeds that failed first. */
  #askAgain(): void {
    this.#retry = undefined;
    for (const { request } of [...this.#failed.values()].slice(0, callsMax)) {
      // It keeps its error meanwhile, and readers do not wait for it again.
      if (!this.#asked.has(request.id)) this.#ask({ ...request, done: Promise.withResolvers() });
    }
  }
}

function dropOldest(map: Map<string, unknown>): void {
  for (const id of map.keys()) {
    if (map.size <= seedsMax) return;
    map.delete(id);
  }
}
