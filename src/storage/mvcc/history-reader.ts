import type { Entry, Key } from "../../api/entry.ts";
import { nextRevision, type Revision } from "../../api/revision.ts";
import { compareKeys } from "../key-order.ts";
import type { StateMachine } from "../state-machine.ts";
import { CompactedError, CorruptEntryError, type StoreEvent } from "../store.ts";
import type { Database } from "./database.ts";
import { IndexCache } from "./index-text.ts";
import { currentKey, eventRange, parseEventKey, parseVersionKey, versionKey, versionRange } from "./layout.ts";
import { decodeEntry, decodeEvent, type EventRecord, isTombstone } from "./record.ts";

type Snapshot = ReturnType<Database["snapshot"]>;

const readBatchRecords = 1_000;
const readBatchBytes = 1024 * 1024;
/** Minimum number of current entries that one step of a bounded scan examines. */
const scanStepEntriesMin = 256;

interface Version {
  readonly key: Key;
  readonly revision: Revision;
}

export interface HistorySources {
  readonly database: Database;
  readonly state: StateMachine;
  /** Changes that are in the state but perhaps not on disk, oldest first. */
  readonly pending: readonly StoreEvent[];
  /** The revision up to which everything is on disk. */
  readonly flushed: Revision;
}

/**
 * Reads the history from disk and from the changes on their way there. The three sources are read in one turn; together
 * they hold every version since the compacted revision. A database snapshot lives for one step and is counted.
 */
export class HistoryReader {
  readonly #sources: () => HistorySources;
  readonly #indexes = new IndexCache();
  #snapshots = 0;
  readonly #reads = new Set<Promise<unknown>>();

  constructor(sources: () => HistorySources) {
    this.#sources = sources;
  }

  /** Number of open snapshots; 0 without readers. */
  get openSnapshots(): number {
    return this.#snapshots;
  }

  /** Resolves when the current reads have finished. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#reads);
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
    const { state, pending, database } = this.#sources();
    checkReadable(state, at);
    const current = state.scan(prefix, from, step);
    const last = current.length < step ? undefined : current[current.length - 1]?.key;
    const inStep = (key: Key) => key.startsWith(prefix) && key >= from && (last === undefined || key <= last);
    const recent = stateFromPending(pending, at, inStep);
    const entries = current.filter(({ key, revision }) => revision <= at && !recent.has(key));
    for (const entry of recent.values()) if (entry !== undefined) entries.push(entry);
    const known = new Set([...entries.map(({ key }) => key), ...recent.keys()]);
    const past = await this.#withSnapshot(database, async (snapshot) => {
      const versions = await versionsAt(database, at, versionRange(prefix, from, last), known, snapshot);
      return this.#readVersions(database, versions, snapshot);
    });
    for (const entry of past) if (entry !== undefined) entries.push(entry);
    if (past.length > 0 || recent.size > 0) entries.sort((a, b) => compareKeys(a.key, b.key));
    return { entries, from: last === undefined ? undefined : `${last}\0` };
  }

  /** Reads versions. A tombstone gives undefined. */
  async #readVersions(
    database: Database,
    versions: readonly Version[],
    snapshot: Snapshot,
  ): Promise<(Entry | undefined)[]> {
    const read: (Entry | undefined)[] = [];
    for (let at = 0; at < versions.length; at += readBatchRecords) {
      const part = versions.slice(at, at + readBatchRecords);
      const keys = part.map(({ key, revision }) => versionKey(key, revision));
      const values = await database.getMany(keys, { snapshot });
      for (let index = 0; index < part.length; index++) {
        const version = this.#decodeVersion(part[index] as Version, values[index]);
        read.push(version.tombstone ? undefined : version.entry);
      }
    }
    return read;
  }

  async eventsAfter(after: Revision, prefix: Key, limit: number): Promise<StoreEvent[]> {
    const { state, pending, flushed, database } = this.#sources();
    checkReadable(state, after);
    if (after >= state.revision || limit <= 0) return [];
    const recent = pending.filter(({ revision }) => revision > after && revision > flushed);
    const events = after >= flushed ? [] : await this.#eventsOnDisk(database, state, after, flushed, prefix, limit);
    for (const event of recent) {
      if (events.length === limit) break;
      if (event.entry.key.startsWith(prefix)) events.push(event);
    }
    return events;
  }

  #eventsOnDisk(
    database: Database,
    state: StateMachine,
    after: Revision,
    last: Revision,
    prefix: Key,
    limit: number,
  ): Promise<StoreEvent[]> {
    return this.#withSnapshot(database, async (snapshot) => {
      const records = await eventRecords(database, nextRevision(after), last, prefix, limit, snapshot);
      const events: StoreEvent[] = [];
      for (let at = 0; at < records.length; at += readBatchRecords) {
        const part = records.slice(at, at + readBatchRecords);
        events.push(...(await this.#readEvents({ database, state, snapshot }, part)));
      }
      return events;
    });
  }

  async #readEvents(
    { database, state, snapshot }: { database: Database; state: StateMachine; snapshot: Snapshot },
    records: readonly { revision: Revision; record: EventRecord }[],
  ): Promise<StoreEvent[]> {
    const wanted = new Map<string, Version>();
    for (const { revision, record } of records) {
      const { key, previousRevision } = record;
      if (state.get(key)?.revision !== revision) wanted.set(versionKey(key, revision), { key, revision });
      if (previousRevision === undefined || state.get(key)?.revision === previousRevision) continue;
      wanted.set(versionKey(key, previousRevision), { key, revision: previousRevision });
    }
    // Capture the current entries now, because the state moves on while the disk is read.
    const current = new Map(records.map(({ record: { key } }) => [key, state.get(key)]));
    const read = await this.#readWanted(database, wanted, snapshot);
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

  async #readWanted(
    database: Database,
    wanted: ReadonlyMap<string, Version>,
    snapshot: Snapshot,
  ): Promise<Map<string, Entry>> {
    const keys = [...wanted.keys()];
    const values = await database.getMany(keys, { snapshot });
    const read = new Map<string, Entry>();
    for (let at = 0; at < keys.length; at++) {
      const version = wanted.get(keys[at] as string) as Version;
      const value = values[at];
      // The entry was superseded after the snapshot was taken, so the snapshot still has it as the current one.
      const entry =
        value === undefined
          ? await this.#readCurrent(database, version, snapshot)
          : this.#decodeVersion(version, value).entry;
      read.set(keys[at] as string, entry);
    }
    return read;
  }

  async #readCurrent(database: Database, { key, revision }: Version, snapshot: Snapshot): Promise<Entry> {
    const databaseKey = currentKey(key);
    const value = await database.get(databaseKey, { snapshot });
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

  #withSnapshot<T>(database: Database, read: (snapshot: Snapshot) => Promise<T>): Promise<T> {
    const run = this.#readWith(database, read);
    this.#reads.add(run);
    return run.finally(() => this.#reads.delete(run));
  }

  async #readWith<T>(database: Database, read: (snapshot: Snapshot) => Promise<T>): Promise<T> {
    const snapshot = database.snapshot();
    this.#snapshots++;
    try {
      return await read(snapshot);
    } finally {
      this.#snapshots--;
      await snapshot.close();
    }
  }
}

function checkReadable(state: StateMachine, revision: Revision): void {
  const oldest = state.compactedRevision;
  if (revision < oldest) throw new CompactedError(oldest);
}

/**
 * Returns the state at `at` for the keys that pending changes affect: an object, or undefined if none existed. For other
 * keys, the disk has the answer.
 */
function stateFromPending(
  pending: readonly StoreEvent[],
  at: Revision,
  isWanted: (key: Key) => boolean,
): Map<Key, Entry | undefined> {
  const then = new Map<Key, Entry | undefined>();
  for (const { revision, type, entry, previous } of pending) {
    if (!isWanted(entry.key)) continue;
    if (revision <= at) then.set(entry.key, type === "DELETED" ? undefined : entry);
    else if (previous !== undefined && previous.revision <= at && !then.has(entry.key)) then.set(entry.key, previous);
  }
  return then;
}

/** Finds the newest version at or before `at` of every key in the range that is not in `known`. */
async function versionsAt(
  database: Database,
  at: Revision,
  range: { gte: string; lt: string },
  known: ReadonlySet<Key>,
  snapshot: Snapshot,
): Promise<Version[]> {
  const versions: Version[] = [];
  const iterator = database.keys({ ...range, snapshot, highWaterMarkBytes: readBatchBytes });
  try {
    for (;;) {
      const batch = await iterator.nextv(readBatchRecords);
      if (batch.length === 0) return versions;
      for (const databaseKey of batch) {
        const version = parseVersionKey(databaseKey);
        if (version.revision > at || known.has(version.key)) continue;
        if (versions[versions.length - 1]?.key === version.key) versions.pop();
        versions.push(version);
      }
    }
  } finally {
    await iterator.close();
  }
}

async function eventRecords(
  database: Database,
  from: Revision,
  to: Revision,
  prefix: Key,
  limit: number,
  snapshot: Snapshot,
): Promise<{ revision: Revision; record: EventRecord }[]> {
  const found: { revision: Revision; record: EventRecord }[] = [];
  const iterator = database.iterator({ ...eventRange(from, to), snapshot, highWaterMarkBytes: readBatchBytes });
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
