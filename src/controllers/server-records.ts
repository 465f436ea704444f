import type { Clock } from "../api/clock.ts";
import { stringifyJson } from "../codec/json.ts";
import { decodeBody } from "../codec/stored-object.ts";
import { splitAtResourceVersion } from "../storage/resource-version-gap.ts";
import { type Revision, zeroRevision } from "../storage/revision.ts";
import { type Entry, type Key, type Store, type StoreEvent, StoreUnavailableError } from "../storage/store.ts";

/** One record for each server that runs, named by its id. No resource of the API lies here. */
const prefix: Key = "/registry/masterleases/";
/** A server that has not renewed its record for so long has stopped. */
const ttlMs = 15_000;
const renewIntervalMs = 10_000;
/** A server that goes does not wait longer for its record to be removed: it would end by itself. */
const withdrawMsMax = 1_000;

export interface ServerRecord {
  readonly id: string;
  /** Undefined until it listens. */
  readonly port: number | undefined;
  /** Undefined when only its own machine can reach it. */
  readonly address: string | undefined;
}

export interface ServerRecordsParts {
  readonly id: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly onError: (error: unknown) => void;
}

/** Which revision of a record was seen, and since when, by our own steady clock. */
interface Observation {
  readonly revision: Revision;
  readonly sinceMs: number;
}

/**
 * The servers that share the store. Each keeps a record of itself there, and removes it when it goes. The records of those
 * that went without a word are removed by the others, guarded by the revision that did not change for the time to live:
 * who is there is what the store says, the same for all, and never a matter of anybody's clock.
 */
export class ServerRecords {
  readonly #parts: ServerRecordsParts;
  readonly #running = new DisposableStack();
  readonly #observed = new Map<Key, Observation>();
  readonly #listeners = new Set<() => void>();
  #self: ServerRecord;
  #joined = zeroRevision;
  #joinedAtMs = 0;
  #renewedMs = Number.NEGATIVE_INFINITY;
  #timer: Disposable | undefined;
  #round: Promise<void> | undefined;
  #withdrawn: Promise<void> | undefined;

  constructor(parts: ServerRecordsParts) {
    this.#parts = parts;
    this.#self = { id: parts.id, port: undefined, address: undefined };
  }

  /**
   * Makes the record; to be awaited before the first request is let in. Whoever reads the store after one of our writes
   * then knows that we are there.
   */
  async join(): Promise<void> {
    await this.#renew();
    const { store, clock } = this.#parts;
    this.#joined = store.revision;
    this.#joinedAtMs = clock.steadyMs();
    for (const { key, revision } of store.scan(prefix)) this.#see(key, revision);
    this.#running.use(store.subscribe((events) => this.#receive(events)));
    this.#schedule();
  }

  /** Says where this server listens, as soon as that can be written. */
  announce(port: number, address: string | undefined): void {
    this.#self = { ...this.#self, port, address };
    this.#renewedMs = Number.NEGATIVE_INFINITY;
    this.#schedule();
  }

  /** The servers that are there, this one too, in an order that is the same for all. */
  all(): readonly ServerRecord[] {
    return this.#parts.store.scan(prefix).map(recordOf);
  }

  /** No other server shares the store. One that joins later has let no request in yet. */
  get isAlone(): boolean {
    return this.#parts.store.scan(prefix).every(({ key }) => key === this.#key);
  }

  get id(): string {
    return this.#parts.id;
  }

  has(id: string): boolean {
    return this.#parts.store.get(prefix + id) !== undefined;
  }

  /** The revision at which this server came: nothing up to it is of requests that it has let in. */
  get joined(): Revision {
    return this.#joined;
  }

  /** How long ago that was. */
  get joinedMs(): number {
    return this.#parts.clock.steadyMs() - this.#joinedAtMs;
  }

  /** Up to here nothing in the store belongs to a request that runs now; zero while other servers may have some. */
  get inherited(): Revision {
    return this.isAlone ? this.#joined : zeroRevision;
  }

  /** Tells of servers that came, went or moved. */
  follow(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  /** Removes the own record for good. */
  withdraw(): Promise<void> {
    this.#withdrawn ??= this.#withdraw();
    return this.#withdrawn;
  }

  /** As if the process ended: the record stays until it is over. */
  [Symbol.dispose](): void {
    this.#running.dispose();
    this.#timer?.[Symbol.dispose]();
  }

  get #key(): Key {
    return prefix + this.#parts.id;
  }

  #receive(events: readonly StoreEvent[]): void {
    let isChanged = false;
    for (const { type, entry, previous } of events) {
      if (!entry.key.startsWith(prefix)) continue;
      if (type === "DELETED") this.#observed.delete(entry.key);
      else this.#see(entry.key, entry.revision);
      isChanged ||= type !== "MODIFIED" || previous === undefined || !isSame(recordOf(entry), recordOf(previous));
      // Somebody took us for gone.
      if (type === "DELETED" && entry.key === this.#key) this.#renewedMs = Number.NEGATIVE_INFINITY;
    }
    if (!isChanged) return;
    this.#schedule();
    for (const listener of this.#listeners) listener();
  }

  #see(key: Key, revision: Revision): void {
    this.#observed.set(key, { revision, sinceMs: this.#parts.clock.steadyMs() });
  }

  /** The next look: when the own record has to be renewed, or the first of the others may be over. */
  #schedule(delayMsMin = 1): void {
    const { clock } = this.#parts;
    this.#timer?.[Symbol.dispose]();
    if (this.#running.disposed) return;
    const ends = [...this.#observed].flatMap(([key, { sinceMs }]) => (key === this.#key ? [] : [sinceMs + ttlMs]));
    const nextMs = Math.min(this.#renewedMs + renewIntervalMs, ...ends);
    this.#timer = clock.after(Math.max(delayMsMin, nextMs - clock.steadyMs()), () => this.#look());
  }

  #look(): void {
    const { onError } = this.#parts;
    let waitMs = 1;
    this.#round ??= this.#keep()
      .catch((error: unknown) => {
        waitMs = 1_000;
        if (!(error instanceof StoreUnavailableError) && !this.#running.disposed) onError(error);
      })
      .finally(() => {
        this.#round = undefined;
        this.#schedule(waitMs);
      });
  }

  async #keep(): Promise<void> {
    const { clock, store } = this.#parts;
    const lastMs = this.#renewedMs;
    if (clock.steadyMs() - lastMs < renewIntervalMs && this.#over().length === 0) return;
    // After it, everything that the others have renewed before is visible here.
    await this.#renew();
    if (clock.steadyMs() - lastMs >= ttlMs) {
      // We could not renew our own either: who cannot write is no judge of those who could not.
      for (const { key, revision } of store.scan(prefix)) this.#see(key, revision);
      return;
    }
    for (const entry of this.#over()) await this.#remove(entry);
  }

  /** Records of others that have not changed for their time. */
  #over(): Entry[] {
    const { clock, store } = this.#parts;
    const nowMs = clock.steadyMs();
    return store.scan(prefix).filter(({ key, revision }) => {
      const seen = this.#observed.get(key);
      return key !== this.#key && seen?.revision === revision && nowMs - seen.sinceMs >= ttlMs;
    });
  }

  async #renew(): Promise<void> {
    if (this.#withdrawn !== undefined) return;
    const { store, newId, clock } = this.#parts;
    const { port, address } = this.#self;
    const startedMs = clock.steadyMs();
    const fields = stringifyJson({
      ...(port === undefined ? {} : { port }),
      ...(address === undefined ? {} : { address }),
    });
    const body = {
      prefix: Buffer.from(`{"metadata":{"name":"${this.#parts.id}","resourceVersion":"`),
      suffix: Buffer.from(`"},"endpoint":${fields}}`),
    };
    const index = { apiVersion: "v1", uid: "", labels: undefined, fields: undefined };
    const operation = { kind: "put", index, body } as const;
    await store.commit({ id: newId(), key: this.#key, expect: { kind: "any" }, operation });
    this.#renewedMs = startedMs;
  }

  /** One that was renewed meanwhile stays. */
  async #remove({ key, revision, body }: Entry): Promise<void> {
    const { store, newId } = this.#parts;
    const operation = { kind: "delete", last: splitAtResourceVersion(body) } as const;
    await store.commit({ id: newId(), key, expect: { kind: "revision", revision }, operation });
  }

  async #withdraw(): Promise<void> {
    const { store, clock } = this.#parts;
    this[Symbol.dispose]();
    const tooLong = Promise.withResolvers<void>();
    using _timer = clock.after(withdrawMsMax, tooLong.resolve);
    const removal = async () => {
      await this.#round;
      const entry = store.get(this.#key);
      if (entry !== undefined) await this.#remove(entry);
    };
    await Promise.race([removal().catch(() => undefined), tooLong.promise]);
  }
}

function recordOf(entry: Entry): ServerRecord {
  const { endpoint = {} } = decodeBody(entry) as { endpoint?: Partial<ServerRecord> };
  return { id: entry.key.slice(prefix.length), port: endpoint.port, address: endpoint.address };
}

function isSame(a: ServerRecord, b: ServerRecord): boolean {
  return a.port === b.port && a.address === b.address;
}
