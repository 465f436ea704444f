import type { Key } from "../../api/entry.ts";
import type { Revision } from "../../api/revision.ts";
import type { Clock } from "../../process/clock.ts";
import type { Store, StoreEvent } from "../store.ts";
import { Cacher } from "./cacher.ts";
import type { CacherLimits } from "./limits.ts";
import type { CacherMetrics } from "./metrics.ts";
import { WatchScheduler } from "./watch-scheduler.ts";

/** Maximum number of segments in a resource's prefix, as in `/registry/<group>/<resource>/`. */
const prefixSegmentsMax = 3;

export interface CacherSetOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly limits?: Partial<CacherLimits>;
  readonly metrics?: CacherMetrics;
  readonly random?: () => number;
  readonly defer?: (run: () => void) => void;
}

/**
 * The caches of all resources, fed by one subscription. Each event reaches its cache in the turn in which it becomes
 * visible.
 */
export class CacherSet {
  readonly #options: CacherSetOptions;
  readonly #feed: { revision: Revision; readonly scheduler: WatchScheduler };
  readonly #cachers = new Map<Key, Cacher>();
  readonly #subscription: Disposable;

  constructor(options: CacherSetOptions) {
    this.#options = options;
    this.#feed = {
      revision: options.store.revision,
      scheduler: new WatchScheduler(options.clock, options.defer),
    };
    this.#subscription = options.store.subscribe((events, revision, jumped) => {
      if (jumped) this.#reset(revision);
      else this.#receive(events, revision);
    });
  }

  /** The newest revision seen. */
  get revision(): Revision {
    return this.#feed.revision;
  }

  /** Returns the cache of a resource. The first call builds it from the store's state. `prefix` ends with a slash. */
  cacher(prefix: Key): Cacher {
    let cacher = this.#cachers.get(prefix);
    if (cacher === undefined) {
      cacher = new Cacher({ ...this.#options, prefix, feed: this.#feed });
      this.#cachers.set(prefix, cacher);
    }
    return cacher;
  }

  /** Ends the resource's watches and drops its cache, because its definition changed or was deleted. */
  remove(prefix: Key): void {
    this.#cachers.get(prefix)?.close();
    this.#cachers.delete(prefix);
  }

  close(): void {
    this.#subscription[Symbol.dispose]();
    for (const cacher of this.#cachers.values()) cacher.close();
    this.#cachers.clear();
    this.#feed.scheduler.close();
  }

  #receive(events: readonly StoreEvent[], revision: Revision): void {
    const touched = new Set<Cacher>();
    for (const event of events) {
      const cacher = this.#cacherOf(event.entry.key);
      if (cacher === undefined) continue;
      cacher.apply(event);
      touched.add(cacher);
    }
    this.#feed.revision = revision;
    for (const cacher of touched) cacher.changesDone();
  }

  /**
   * Restarts every cache after the store took over another state. Only the store's history has the changes in between.
   */
  #reset(revision: Revision): void {
    this.#feed.revision = revision;
    for (const cacher of this.#cachers.values()) cacher.reset();
  }

  /** Returns the cache with the longest prefix of `key`. */
  #cacherOf(key: Key): Cacher | undefined {
    let end = key.indexOf("/", 1);
    let found: Cacher | undefined;
    for (let segment = 1; segment < prefixSegmentsMax && end >= 0; segment++) {
      end = key.indexOf("/", end + 1);
      if (end < 0) break;
      found = this.#cachers.get(key.slice(0, end + 1)) ?? found;
    }
    return found;
  }
}
