import { stringifyJson } from "../api/codec/json.ts";
import { decodeBody } from "../api/codec/stored-object.ts";
import type { Entry, Key } from "../api/entry.ts";
import { type Revision, zeroRevision } from "../api/revision.ts";
import { atMost } from "../process/at-most.ts";
import type { Clock } from "../process/clock.ts";
import { recordIndex } from "../storage/record-index.ts";
import { masterLeasePrefix, serverPrefix } from "../storage/record-prefixes.ts";
import { splitAtResourceVersion } from "../storage/resource-version-gap.ts";
import { type Store, type StoreEvent, StoreUnavailableError } from "../storage/store.ts";

/** Time without a renewal after which a server counts as stopped. */
const ttlMs = 15_000;
const renewIntervalMs = 10_000;
/** Delay after a failed write. */
const retryMs = 1_000;
/** Maximum time that a stopping server waits for the change of its record, which also expires by itself. */
const leaveMsMax = 1_000;

export interface ServerRecord {
  readonly id: string;
  /** Port; undefined before it listens. */
  readonly port: number | undefined;
  /** Address; undefined when only its own machine can reach it. */
  readonly address: string | undefined;
}

export interface ServerRecordsParts {
  readonly id: string;
  readonly store: Store;
  readonly clock: Clock;
  /** Whether the store is on etcd, where other programs may have objects, too, and kube-apiservers keep leases. */
  readonly isOnEtcd?: boolean;
  readonly onError: (error: unknown) => void;
}

/** The observed revision of a record, and the time when it was first seen by our own steady clock. */
interface Observation {
  readonly revision: Revision;
  readonly sinceMs: number;
}

/**
 * The servers that share the store. Each keeps a record of itself there, and removes it when it stops. The others remove
 * the record of a vanished server once its revision has not changed for the time to live. So the store decides which
 * servers exist, the same for all and independent of clocks.
 */
export class ServerRecords {
  readonly #parts: ServerRecordsParts;
  readonly #prefix: Key;
  readonly #running = new DisposableStack();
  readonly #observed = new Map<Key, Observation>();
  readonly #listeners = new Set<() => void>();
  #self: ServerRecord;
  /** Ends the wait for another attempt to join. */
  #wake: () => void = () => {};
  #joined = zeroRevision;
  #joinedAtMs: number | undefined;
  #renewedMs = Number.NEGATIVE_INFINITY;
  #timer: Disposable | undefined;
  #round: Promise<void> | undefined;
  #withdrawn: Promise<void> | undefined;

  constructor(parts: ServerRecordsParts) {
    this.#parts = parts;
    this.#prefix = parts.isOnEtcd === true ? serverPrefix : masterLeasePrefix;
    this.#self = { id: parts.id, port: undefined, address: undefined };
  }

  /**
   * Creates the record as soon as the store accepts it. Await it before the first creation is admitted: other servers
   * that read the store after one of our writes then know this server.
   * @throws StoreUnavailableError if this server stops first
   */
  async join(): Promise<void> {
    while (!(await this.#tryToJoin())) await this.#wait(retryMs);
    if (this.#running.disposed) throw new StoreUnavailableError("the server stops");
    const { store, clock } = this.#parts;
    this.#joined = store.revision;
    this.#joinedAtMs = clock.steadyMs();
    for (const { key, revision } of store.scan(this.#prefix)) this.#see(key, revision);
    this.#running.use(store.subscribe((events) => this.#receive(events)));
    this.#schedule();
  }

  async #tryToJoin(): Promise<boolean> {
    try {
      await this.#renew();
      return true;
    } catch (error) {
      if (!(error instanceof StoreUnavailableError) || this.#running.disposed) throw error;
      return false;
    }
  }

  async #wait(delayMs: number): Promise<void> {
    const over = Promise.withResolvers<void>();
    using _timer = this.#parts.clock.after(delayMs, over.resolve);
    this.#wake = over.resolve;
    await over.promise;
    if (this.#running.disposed) throw new StoreUnavailableError("the server stops");
  }

  /** Publishes the address of this server as soon as it can be written. */
  announce(port: number, address: string | undefined): void {
    this.#self = { ...this.#self, port, address };
    this.#renewedMs = Number.NEGATIVE_INFINITY;
    this.#schedule();
  }

  /** Returns the current servers, including this one, in the same order everywhere. */
  all(): readonly ServerRecord[] {
    return this.#parts.store.scan(this.#prefix).map(recordOf);
  }

  /** Whether no other server shares the store. A server that joins later has not admitted any request yet. */
  get isAlone(): boolean {
    // This is read for every write that a quota counts, so it must not scan the store.
    const keys =
      this.#joinedAtMs === undefined
        ? this.#parts.store.scan(this.#prefix).map(({ key }) => key)
        : this.#observed.keys();
    for (const key of keys) if (key !== this.#key) return false;
    return true;
  }

  get id(): string {
    return this.#parts.id;
  }

  has(id: string): boolean {
    return this.#parts.store.get(this.#prefix + id) !== undefined;
  }

  /** The revision at which this server joined. It has admitted no request that is based on an earlier one. */
  get joined(): Revision {
    return this.#joined;
  }

  /** Time since then. */
  get joinedMs(): number {
    return this.#joinedAtMs === undefined ? 0 : this.#parts.clock.steadyMs() - this.#joinedAtMs;
  }

  /** The revision up to which no running request of another server can be based; zero if that is unknown. */
  get inherited(): Revision {
    // A kube-apiserver on the same etcd has no record.
    return this.isAlone && this.#parts.isOnEtcd !== true ? this.#joined : zeroRevision;
  }

  /** Calls the listener when servers joined, left or moved. */
  follow(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  /** Withdraws the address of this server, which accepts no new clients but still serves its current ones. */
  async leave(): Promise<void> {
    this.#self = { ...this.#self, port: undefined, address: undefined };
    await this.#inTime(() => this.#renew());
  }

  /** Removes this server's record for good, after all work here has ended. */
  withdraw(): Promise<void> {
    this.#withdrawn ??= this.#withdraw();
    return this.#withdrawn;
  }

  /** Stops as a killed process does: the record stays until it expires. */
  [Symbol.dispose](): void {
    this.#running.dispose();
    this.#timer?.[Symbol.dispose]();
    this.#wake();
  }

  get #key(): Key {
    return this.#prefix + this.#parts.id;
  }

  #receive(events: readonly StoreEvent[]): void {
    let isChanged = false;
    for (const { type, entry, previous } of events) {
      if (!entry.key.startsWith(this.#prefix)) continue;
      if (type === "DELETED") this.#observed.delete(entry.key);
      else this.#see(entry.key, entry.revision);
      isChanged ||= type !== "MODIFIED" || previous === undefined || !isSame(recordOf(entry), recordOf(previous));
      // Another server considered this one stopped.
      if (type === "DELETED" && entry.key === this.#key) this.#renewedMs = Number.NEGATIVE_INFINITY;
    }
    if (!isChanged) return;
    this.#schedule();
    for (const listener of this.#listeners) listener();
  }

  #see(key: Key, revision: Revision): void {
    this.#observed.set(key, { revision, sinceMs: this.#parts.clock.steadyMs() });
  }

  /** Schedules the next check: when this server's record must be renewed, or another's may have expired. */
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
        waitMs = retryMs;
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
    // After this write, all earlier renewals of the others are visible here.
    await this.#renew();
    if (clock.steadyMs() - lastMs >= ttlMs) {
      // If our own renewal failed, the others may have been unable to write as well.
      for (const { key, revision } of store.scan(this.#prefix)) this.#see(key, revision);
      return;
    }
    for (const entry of this.#over()) await this.#remove(entry);
  }

  /** Returns the expired records of others. */
  #over(): Entry[] {
    const { clock, store } = this.#parts;
    const nowMs = clock.steadyMs();
    return store.scan(this.#prefix).filter(({ key, revision }) => {
      const seen = this.#observed.get(key);
      return key !== this.#key && seen?.revision === revision && nowMs - seen.sinceMs >= ttlMs;
    });
  }

  async #renew(): Promise<void> {
    if (this.#withdrawn !== undefined) return;
    const { store, clock } = this.#parts;
    const { port, address } = this.#self;
    const startedMs = clock.steadyMs();
    const endpoint = { ...(port === undefined ? {} : { port }), ...(address === undefined ? {} : { address }) };
    const body = {
      prefix: Buffer.from(`{"metadata":{"name":"${this.#parts.id}","resourceVersion":"`),
      suffix: Buffer.from(`"},"endpoint":${stringifyJson(endpoint)}}`),
    };
    const operation = { kind: "put", index: recordIndex, body } as const;
    await store.commit({ key: this.#key, expect: { kind: "any" }, operation });
    this.#renewedMs = startedMs;
  }

  /** Removes a record unless it was renewed meanwhile. */
  async #remove({ key, revision, body }: Entry): Promise<void> {
    const { store } = this.#parts;
    const operation = { kind: "delete", last: splitAtResourceVersion(body) } as const;
    await store.commit({ key, expect: { kind: "revision", revision }, operation });
  }

  async #withdraw(): Promise<void> {
    const { store } = this.#parts;
    this[Symbol.dispose]();
    await this.#inTime(async () => {
      await this.#round;
      const entry = store.get(this.#key);
      if (entry !== undefined) await this.#remove(entry);
    });
  }

  async #inTime(write: () => Promise<void>): Promise<void> {
    await atMost(
      this.#parts.clock,
      leaveMsMax,
      write().catch(() => undefined),
    );
  }
}

function recordOf(entry: Entry): ServerRecord {
  const { endpoint = {} } = decodeBody(entry) as { endpoint?: Partial<ServerRecord> };
  return { id: entry.key.slice(entry.key.lastIndexOf("/") + 1), port: endpoint.port, address: endpoint.address };
}

function isSame(a: ServerRecord, b: ServerRecord): boolean {
  return a.port === b.port && a.address === b.address;
}
