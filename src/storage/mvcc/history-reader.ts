import { compareKeys } from "../key-order.ts";
import { nextRevision, type Revision } from "../revision.ts";
import type { StateMachine } from "../state-machine.ts";
import { CompactedError, CorruptEntryError, type Entry, type Key, type StoreEvent } from "../store.ts";
import type { Database } from "./database.ts";
import { currentKey, eventRange, parseEventKey, parseVersionKey, versionKey, versionRange } from "./layout.ts";
import { decodeEntry, decodeEvent, type EventRecord, IndexCache, isTombstone } from "./record.ts";

type Snapshot = ReturnType<Database["snapshot"]>;

const readBatchRecords = 1_000;
const readBatchBytes = 1024 * 1024;
/** Current entries that one step of a bounded scan looks at. */
const scanStepEntriesMin = 256;

interface Version {
  readonly key: Key;
  readonly revision: Revision;
}

/**
 * The past, from disk. A batch is on disk before it is in memory, so a snapshot taken in the same turn as a look at the
 * state machine holds every version that the latter no longer has. Each snapshot lives for one step and is counted.
 */
export class HistoryReader {
  readonly #database: Database;
  readonly #state: StateMachine;
  readonly #indexes = new IndexCache();
  #snapshots = 0;

  constructor(database: Database, state: StateMachine) {
    this.#database = database;
    this.#state = state;
  }

  /** Snapshots that are open now: none when nobody reads. */
  get openSnapshots(): number {
    return this.#snapshots;
  }

  async scanAt(at: Revision, prefix: Key, start: Key, limit: number): Promise<Entry[]> {
    const found: Entry[] = [];
    const step = Math.max(scanStepEntriesMin, limit);
    for (let from: Key | undefined = start; from !== undefined; ) {
      const next = await this.#scanStep(at, prefix, from, step);
      for (const entry of next.entries) {
        if (found.length === limit) return found;
        found.push(entry);
      }
      from = next.from;
    }
    return found;
  }

  async #scanStep(
    at: Revision,
    prefix: Key,
    from: Key,
    step: number,
  ): Promise<{ entries: Entry[]; from: Key | undefined }> {
    this.#checkReadable(at);
    const current = this.#state.scan(prefix, from, step);
    const last = current.length < step ? undefined : current[current.length - 1]?.key;
    const entries = current.filter(({ revision }) => revision <= at);
    const unchanged = new Set(entries.map(({ key }) => key));
    const past = await this.#withSnapshot(async (snapshot) => {
      const versions = await this.#versionsAt(at, versionRange(prefix, from, last), unchanged, snapshot);
      return this.#readVersions(versions, snapshot);
    });
    for (const entry of past) if (entry !== undefined) entries.push(entry);
    if (past.length > 0) entries.sort((a, b) => compareKeys(a.key, b.key));
    return { entries, from: last === undefined ? undefined : `${last}\0` };
  }

  /** For every key in the range that is not `unchanged` since: its newest version that is not younger than `at`. */
  async #versionsAt(
    at: Revision,
    range: { gte: string; lt: string },
    unchanged: ReadonlySet<Key>,
    snapshot: Snapshot,
  ): Promise<Version[]> {
    const versions: Version[] = [];
    const iterator = this.#database.keys({ ...range, snapshot, highWaterMarkBytes: readBatchBytes });
    try {
      for (;;) {
        const batch = await iterator.nextv(readBatchRecords);
        if (batch.length === 0) return versions;
        for (const databaseKey of batch) {
          const version = parseVersionKey(databaseKey);
          if (version.revision > at || unchanged.has(version.key)) continue;
          if (versions[versions.length - 1]?.key === version.key) versions.pop();
          versions.push(version);
        }
      }
    } finally {
      await iterator.close();
    }
  }

  /** Undefined for a tombstone. */
  async #readVersions(versions: readonly Version[], snapshot: Snapshot): Promise<(Entry | undefined)[]> {
    const read: (Entry | undefined)[] = [];
    for (let at = 0; at < versions.length; at += readBatchRecords) {
      const part = versions.slice(at, at + readBatchRecords);
      const keys = part.map(({ key, revision }) => versionKey(key, revision));
      const values = await this.#database.getMany(keys, { snapshot });
      for (let index = 0; index < part.length; index++) {
        const version = this.#decodeVersion(part[index] as Version, values[index]);
        read.push(version.tombstone ? undefined : version.entry);
      }
    }
    return read;
  }

  async eventsAfter(after: Revision, prefix: Key, limit: number): Promise<StoreEvent[]> {
    this.#checkReadable(after);
    const newest = this.#state.revision;
    if (after >= newest || limit <= 0) return [];
    return this.#withSnapshot(async (snapshot) => {
      const records = await this.#eventRecords(nextRevision(after), newest, prefix, limit, snapshot);
      const events: StoreEvent[] = [];
      for (let at = 0; at < records.length; at += readBatchRecords) {
        events.push(...(await this.#readEvents(records.slice(at, at + readBatchRecords), snapshot)));
      }
      return events;
    });
  }

  async #eventRecords(
    from: Revision,
    to: Revision,
    prefix: Key,
    limit: number,
    snapshot: Snapshot,
  ): Promise<{ revision: Revision; record: EventRecord }[]> {
    const found: { revision: Revision; record: EventRecord }[] = [];
    const iterator = this.#database.iterator({ ...eventRange(from, to), snapshot, highWaterMarkBytes: readBatchBytes });
    let expected = from;
    try {
      for (;;) {
        const batch = await iterator.nextv(Math.min(readBatchRecords, to - expected + 1));
        for (const [databaseKey, value] of batch) {
          const revision = parseEventKey(databaseKey);
          if (revision !== expected) throw missingEvent(expected);
          const record = decodeOrName(`event ${revision}`, () => decodeEvent(databaseKey, value));
          if (record.key.startsWith(prefix)) found.push({ revision, record });
          if (found.length === limit || revision === to) return found;
          expected = nextRevision(expected);
        }
        if (batch.length === 0) throw missingEvent(expected);
      }
    } finally {
      await iterator.close();
    }
  }

  async #readEvents(
    records: readonly { revision: Revision; record: EventRecord }[],
    snapshot: Snapshot,
  ): Promise<StoreEvent[]> {
    const wanted = new Map<string, Version>();
    for (const { revision, record } of records) {
      const { key, previousRevision } = record;
      if (this.#state.get(key)?.revision !== revision) wanted.set(versionKey(key, revision), { key, revision });
      if (previousRevision === undefined || this.#state.get(key)?.revision === previousRevision) continue;
      wanted.set(versionKey(key, previousRevision), { key, revision: previousRevision });
    }
    // What is current now is taken now: the state moves on while the disk is read.
    const current = new Map(records.map(({ record: { key } }) => [key, this.#state.get(key)]));
    const read = await this.#readWanted(wanted, snapshot);
    const entryAt = (key: Key, revision: Revision): Entry => {
      const entry = current.get(key);
      return entry?.revision === revision ? entry : (read.get(versionKey(key, revision)) as Entry);
    };
    return records.map(({ revision, record: { key, type, previousRevision } }) => ({
      revision,
      type,
      entry: entryAt(key, revision),
      previous: previousRevision === undefined ? undefined : entryAt(key, previousRevision),
    }));
  }

  async #readWanted(wanted: ReadonlyMap<string, Version>, snapshot: Snapshot): Promise<Map<string, Entry>> {
    const keys = [...wanted.keys()];
    const values = await this.#database.getMany(keys, { snapshot });
    const read = new Map<string, Entry>();
    for (let at = 0; at < keys.length; at++) {
      const version = wanted.get(keys[at] as string) as Version;
      const value = values[at];
      // Superseded after the snapshot was taken: there it is still the current one.
      const entry =
        value === undefined ? await this.#readCurrent(version, snapshot) : this.#decodeVersion(version, value).entry;
      read.set(keys[at] as string, entry);
    }
    return read;
  }

  async #readCurrent({ key, revision }: Version, snapshot: Snapshot): Promise<Entry> {
    const databaseKey = currentKey(key);
    const value = await this.#database.get(databaseKey, { snapshot });
    const entry = value === undefined ? undefined : this.#decode(databaseKey, key, value).entry;
    if (entry?.revision !== revision)
      throw new CorruptEntryError(key, `its version at revision ${revision} is missing`);
    return entry;
  }

  #decodeVersion({ key, revision }: Version, value: Buffer | undefined): { entry: Entry; tombstone: boolean } {
    if (value === undefined) throw new CorruptEntryError(key, `its version at revision ${revision} is missing`);
    return this.#decode(versionKey(key, revision), key, value);
  }

  #decode(databaseKey: string, key: Key, value: Buffer): { entry: Entry; tombstone: boolean } {
    return decodeOrName(key, () => {
      return { entry: decodeEntry(databaseKey, key, value, this.#indexes), tombstone: isTombstone(value) };
    });
  }

  #checkReadable(revision: Revision): void {
    const oldest = this.#state.compactedRevision;
    if (revision < oldest) throw new CompactedError(oldest);
  }

  async #withSnapshot<T>(read: (snapshot: Snapshot) => Promise<T>): Promise<T> {
    const snapshot = this.#database.snapshot();
    this.#snapshots++;
    try {
      return await read(snapshot);
    } finally {
      this.#snapshots--;
      await snapshot.close();
    }
  }
}

function decodeOrName<T>(name: string, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    throw new CorruptEntryError(name, (error as Error).message);
  }
}

function missingEvent(revision: Revision): CorruptEntryError {
  return new CorruptEntryError(`event ${revision}`, "it is missing");
}
