import { atMost } from "../process/at-most.ts";
import type { Clock } from "../process/clock.ts";
import { stringifyJson } from "../api/codec/json.ts";
import { decodeBody } from "../api/codec/stored-object.ts";
import { splitAtResourceVersion } from "../storage/resource-version-gap.ts";
import { type Revision, zeroRevision } from "../api/revision.ts";
import { type Store, type StoreEvent, StoreUnavailableError } from "../storage/store.ts";
import type { Entry, Key } from "../api/entry.ts";

/** One record for each server that runs, named by its id. No resource of the API lies here. */
const prefix: Key = "/registry/masterleases/";
/** A server that has not renewed its record for so long has stopped. */
const ttlMs = 15_000;
const renewIntervalMs = 10_000;
/** After a write that failed. */
const retryMs = 1_000;
/** A server that goes does not wait longer for its record to be changed or removed: it ends by itself. */
const leaveMsMax = 1_000;

export interface ServerRecord {
  readonly id: string;
  /** Undefined until it listens. */
  readonly port: number | undefined;
  /** Undefined when only its own machine can reach it. */
  readonly address: string | undefined;
}

/** What the record says besides: how far servers wait for each other. */
interface Settling {
  /** The server waits until creations that were let in before this revision was known have ended everywhere. */
  readonly asked: number;
  /** On this server they have, up to this revision. */
  readonly settled: number;
}

export interface ServerRecordsParts {
  readonly id: string;
  readonly store: Store;
  readonly clock: Clock;
  /** Resolves when the creations that run on this server now have ended. */
  readonly creationsEnded: () => Promise<void>;
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
  #self: ServerRecord & Settling;
  /** Where `settle` waits for the others. */
  readonly #waiting = new Set<() => void>();
  #joined = zeroRevision;
  #joinedAtMs: number | undefined;
  #renewedMs = Number.NEGATIVE_INFINITY;
  #timer: Disposable | undefined;
  #round: Promise<void> | undefined;
  #withdrawn: Promise<void> | undefined;

  constructor(parts: ServerRecordsParts) {
    this.#parts = parts;
    this.#self = { id: parts.id, port: undefined, address: undefined, asked: 0, settled: 0 };
  }

  /**
   * Makes the record, as soon as the store takes it; to be awaited before the first creation is let in. Whoever reads the
   * store after one of our writes then knows that we are there.
   * @throws StoreUnavailableError when this server stops before
   */
  async join(): Promise<void> {
    while (!(await this.#tryToJoin())) await this.#wait(retryMs);
    if (this.#running.disposed) throw new StoreUnavailableError("the server stops");
    const { store, clock } = this.#parts;
    this.#joined = store.revision;
    this.#joinedAtMs = clock.steadyMs();
    // Whatever is let in from now on knows of it.
    this.#self = { ...this.#self, settled: this.#joined };
    for (const { key, revision } of store.scan(prefix)) this.#see(key, revision);
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
    this.#waiting.add(over.resolve);
    await over.promise;
    this.#waiting.delete(over.resolve);
    if (this.#running.disposed) throw new StoreUnavailableError("the server stops");
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
    // Asked with every write that a quota is about: no scan of the store.
    const keys =
      this.#joinedAtMs === undefined ? this.#parts.store.scan(prefix).map(({ key }) => key) : this.#observed.keys();
    for (const key of keys) if (key !== this.#key) return false;
    return true;
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
    return this.#joinedAtMs === undefined ? 0 : this.#parts.clock.steadyMs() - this.#joinedAtMs;
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

  /**
   * Resolves when the creations have ended that any server has let in without knowing of what is in the store now.
   * @throws StoreUnavailableError when this server stops before
   */
  async settle(): Promise<void> {
    const { store, creationsEnded } = this.#parts;
    const at = store.revision;
    await creationsEnded();
    if (this.isAlone) return;
    this.#self = { ...this.#self, asked: Math.max(this.#self.asked, at) };
    await this.#renew();
    const isSettled = () =>
      store.scan(prefix).every((entry) => entry.key === this.#key || settlingOf(entry).settled >= at);
    while (!isSettled()) {
      if (this.#running.disposed) throw new StoreUnavailableError("the server stops");
      const changed = Promise.withResolvers<void>();
      this.#waiting.add(changed.resolve);
      await changed.promise;
    }
  }

  /** Takes back where this server listens: it takes no new clients, and still serves those that it has. */
  async leave(): Promise<void> {
    this.#self = { ...this.#self, port: undefined, address: undefined };
    await this.#inTime(() => this.#renew());
  }

  /** Removes the own record for good: nothing is on its way here any more. */
  withdraw(): Promise<void> {
    this.#withdrawn ??= this.#withdraw();
    return this.#withdrawn;
  }

  /** As if the process ended: the record stays until it is over. */
  [Symbol.dispose](): void {
    this.#running.dispose();
    this.#timer?.[Symbol.dispose]();
    this.#wake();
  }

  get #key(): Key {
    return prefix + this.#parts.id;
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  /** Says how far everything has ended here, when it has. */
  async #answer(asked: number): Promise<void> {
    const { creationsEnded, onError } = this.#parts;
    await creationsEnded();
    if (asked <= this.#self.settled) return;
    this.#self = { ...this.#self, settled: asked };
    try {
      await this.#renew();
    } catch (error) {
      // It stands in the next renewal too.
      if (!(error instanceof StoreUnavailableError) && !this.#running.disposed) onError(error);
    }
  }

  #receive(events: readonly StoreEvent[]): void {
    let isChanged = false;
    for (const { type, entry, previous } of events) {
      if (!entry.key.startsWith(prefix)) continue;
      const { asked } = settlingOf(entry);
      if (entry.key !== this.#key && asked > this.#self.settled) void this.#answer(asked);
      this.#wake();
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
    const { store, clock } = this.#parts;
    const { port, address, asked, settled } = this.#self;
    const startedMs = clock.steadyMs();
    const endpoint = { ...(port === undefined ? {} : { port }), ...(address === undefined ? {} : { address }) };
    const body = {
      prefix: Buffer.from(`{"metadata":{"name":"${this.#parts.id}","resourceVersion":"`),
      suffix: Buffer.from(`"},"endpoint":${stringifyJson(endpoint)},"asked":${asked},"settled":${settled}}`),
    };
    const index = { apiVersion: "v1", uid: "", labels: undefined, fields: undefined, owners: undefined };
    const operation = { kind: "put", index, body } as const;
    await store.commit({ key: this.#key, expect: { kind: "any" }, operation });
    this.#renewedMs = startedMs;
  }

  /** One that was renewed meanwhile stays. */
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
  return { id: entry.key.slice(prefix.length), port: endpoint.port, address: endpoint.address };
}

function settlingOf(entry: Entry): Settling {
  const { asked = 0, settled = 0 } = decodeBody(entry) as Partial<Settling>;
  return { asked, settled };
}

function isSame(a: ServerRecord, b: ServerRecord): boolean {
  return a.port === b.port && a.address === b.address;
}
