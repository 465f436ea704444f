import type { Entry, Key } from "../../api/entry.ts";
import { nextRevision, type Revision, toRevision } from "../../api/revision.ts";
import type { Clock } from "../../process/clock.ts";
import { type StoreEvent, StoreUnavailableError } from "../store.ts";
import { cancellationOf } from "./cancelled-watch.ts";
import type { EtcdClient } from "./client/etcd-client.ts";
import { EtcdError } from "./client/etcd-error.ts";
import { eventType, numberOf, type WatchEvent, type WatchResponse } from "./client/messages.ts";
import type { CompactedMark } from "./compacted-mark.ts";
import { deletedEntry, type ReadEntry, readEntry } from "./entry-reader.ts";
import { rangeOfPrefix, wholeKeySpace } from "./key-range.ts";
import type { EtcdLayout } from "./layout/layout.ts";
import { loadObjects } from "./load-objects.ts";
import { revisionOf, WatchBatches } from "./watch-batch.ts";

/** Time that a watch of history may take to deliver the next events. */
const silenceMsMax = 10_000;
/** Number of times that a watch of history is opened. */
const attemptsMax = 5;

export interface EtcdHistoryParts {
  readonly client: EtcdClient;
  readonly layout: EtcdLayout;
  readonly compacted: CompactedMark;
  readonly clock: Clock;
}

/** Reads of former states, from etcd. */
export class EtcdHistory {
  readonly #parts: EtcdHistoryParts;

  constructor(parts: EtcdHistoryParts) {
    this.#parts = parts;
  }

  /** @throws CompactedError, StoreUnavailableError */
  scanAt(at: Revision, prefix: Key, start: Key, limit: number): Promise<Entry[]> {
    return this.#read(at, async () => {
      const { client, layout } = this.#parts;
      const range = rangeOfPrefix(layout.etcdKey(prefix));
      const first = start > prefix ? { ...range, key: layout.etcdKey(start) } : range;
      const { found } = await loadObjects(client, layout, first, { at, limit });
      return found.filter((one): one is Entry => !(one instanceof Error));
    });
  }

  /**
   * Returns events after a revision, up to the end of the revision that reaches the limit.
   * @param until a revision that etcd has reached
   * @throws CompactedError, StoreUnavailableError
   */
  eventsAfter(after: Revision, until: Revision, prefix: Key, limit: number): Promise<StoreEvent[]> {
    if (after >= until || limit <= 0) {
      this.#parts.compacted.require(after);
      return Promise.resolve([]);
    }
    return this.#read(after, async () => {
      const events: StoreEvent[] = [];
      const take = async (found: readonly WatchEvent[]): Promise<boolean> => {
        const decoded = await Promise.all(found.map((event) => this.#eventOf(event, prefix)));
        for (const event of decoded) {
          const isCut = events.length >= limit && events.at(-1)?.revision !== event?.revision;
          if (event !== undefined && !isCut) events.push(event);
        }
        return events.length >= limit || found.some((event) => revisionOf(event) >= until);
      };
      await this.#watch(nextRevision(after), take);
      return events.filter(({ revision }) => revision <= until);
    });
  }

  async #read<T>(asked: Revision, read: () => Promise<T>): Promise<T> {
    const { compacted } = this.#parts;
    compacted.require(asked);
    try {
      return await read().catch(async (error: unknown) => {
        const isCompacted = error instanceof EtcdError && error.kind === "compacted";
        throw isCompacted ? await compacted.errorOf(asked) : error;
      });
    } catch (error) {
      if (!(error instanceof EtcdError)) throw error;
      throw new StoreUnavailableError(`etcd: ${error.message}`, "notDone");
    }
  }

  /** Watches until `take` has enough. One that breaks off begins again behind the last events that it delivered. */
  async #watch(from: Revision, take: (events: readonly WatchEvent[]) => Promise<boolean>): Promise<void> {
    let next = from;
    let failure: unknown;
    const taking = async (events: readonly WatchEvent[]) => {
      const isEnough = await take(events);
      const last = events.at(-1);
      if (last !== undefined) next = toRevision(revisionOf(last) + 1);
      return isEnough;
    };
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      try {
        return await this.#watchOnce(next, taking);
      } catch (error) {
        if (!(error instanceof EtcdError) || !error.isPassing) throw error;
        failure = error;
        await this.#parts.client.pause();
        await this.#parts.client.connected(silenceMsMax);
      }
    }
    throw failure;
  }

  async #watchOnce(from: Revision, take: (events: readonly WatchEvent[]) => Promise<boolean>): Promise<void> {
    const { client, clock } = this.#parts;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const batches = new WatchBatches();
    const silence = () =>
      clock.after(silenceMsMax, () => reject(new EtcdError("interrupted", "the watch delivers nothing")));
    let timer: Disposable | undefined;
    let taking = Promise.resolve(false);
    const receive = (response: WatchResponse) => {
      timer?.[Symbol.dispose]();
      timer = silence();
      if (response.canceled) return reject(cancellationOf(response));
      const events = batches.add(response);
      taking = taking.then(async (isDone) => isDone || (await take(events)));
      taking.then((isDone) => isDone && resolve(), reject);
    };
    const request = { ...wholeKeySpace, startRevision: from, prevKv: true, fragment: true };
    const watch = client.watch(request, { response: receive, ended: reject });
    timer = silence();
    try {
      await promise;
    } finally {
      timer[Symbol.dispose]();
      watch[Symbol.dispose]();
      // Another attempt begins behind everything that was taken.
      await taking.catch(() => undefined);
    }
  }

  async #eventOf({ type, kv, prevKv }: WatchEvent, prefix: Key): Promise<StoreEvent | undefined> {
    const { layout } = this.#parts;
    const key = layout.keyOf(kv.key.toString());
    if (key?.startsWith(prefix) !== true) return undefined;
    const revision = toRevision(numberOf(kv.modRevision));
    const previous = prevKv === null ? undefined : readable(await readEntry(layout, key, prevKv));
    if (type !== eventType.delete) {
      const entry = readable(await readEntry(layout, key, kv));
      // Without its new state, the object has left all lists.
      if (entry !== undefined)
        return { revision, type: previous === undefined ? "ADDED" : "MODIFIED", entry, previous };
    }
    if (previous === undefined) return undefined;
    return { revision, type: "DELETED", entry: deletedEntry(previous, revision), previous };
  }
}

function readable(read: ReadEntry): Entry | undefined {
  return read instanceof Error ? undefined : read;
}
