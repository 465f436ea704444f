import { drainMicrotasks } from "bun:jsc";
import type { SeededRandom } from "../../raft/testing/simulator/seeded-random.ts";
import { must } from "../../raft/testing/simulator/violation.ts";
import type { Revision } from "../../src/api/revision.ts";
import type { MemberRecord } from "../../src/storage/cluster.ts";
import type { EventHistory } from "../../src/storage/event-history.ts";
import { DataDirectoryError } from "../../src/storage/mvcc/data-directory-error.ts";
import { type Database, type openDatabase, writeDurably } from "../../src/storage/mvcc/database.ts";
import { FlushQueue } from "../../src/storage/mvcc/flush-queue.ts";
import { HistoryReader } from "../../src/storage/mvcc/history-reader.ts";
import { eventKey, everyCurrent, everyVersion, metaKey } from "../../src/storage/mvcc/layout.ts";
import { type OpenedState, openState } from "../../src/storage/mvcc/open-state.ts";
import { emptyState } from "../../src/storage/mvcc/state-record.ts";
import { checkReadable } from "../../src/storage/replicated/open-replica.ts";
import type { ReplicatedState } from "../../src/storage/replicated/replicated-state.ts";
import type { StoreEvent } from "../../src/storage/store.ts";
import { type DatabaseMutation, SimulatedDatabase } from "./database/simulated-database.ts";
import { SimulatedDirectory } from "./database/simulated-directory.ts";
import { SimulatedVolume } from "./database/simulated-volume.ts";
import type { Mutation } from "./mutation.ts";

interface Held {
  readonly state: ReplicatedState;
  readonly history: EventHistory;
}

/** The start of a replica from a database in which a bit has flipped. */
export interface DamagedStart {
  readonly opened: OpenedState;
  readonly disk: DamagedDisk;
}

/** Members that the state of a replica has to be taken from, if it is unreadable. */
const others: readonly MemberRecord[] = [1, 2].map((id) => ({
  id,
  name: `m${id}`,
  peerAddress: `m${id}:1`,
  clientUrl: `https://m${id}:2`,
}));

/** The kinds of records that are damaged: current objects, versions, events, and metadata of the store. */
const kinds = [everyCurrent.gte, everyVersion.gte, "e", metaKey("")];

/** A replica's database with a damaged record that its start did not read. Nothing more is written to it. */
export class DamagedDisk {
  readonly #database: Database;
  /** The revision up to which the database has everything. */
  readonly flushed: Revision;

  private constructor({ database, record }: OpenedState) {
    this.#database = database;
    this.flushed = record.revision;
  }

  /**
   * Writes what a replica holds to a database as the replica does, flips one bit there, and starts from it. Returns
   * undefined if the start refuses that.
   */
  static start(held: Held, random: SeededRandom, mutation: Mutation | undefined): DamagedStart | undefined {
    const opened = done(openDamaged(held, random, mutation));
    return opened && { opened, disk: new DamagedDisk(opened) };
  }

  /** Returns a reader of the history, a part of which is in memory only. */
  reader(held: () => Held): HistoryReader {
    return new HistoryReader(() => {
      const { state, history } = held();
      const pending = history.events.filter(({ revision }) => revision > this.flushed);
      return { database: this.#database, state: state.objects, pending, flushed: this.flushed };
    });
  }
}

async function openDamaged(
  { state, history }: Held,
  random: SeededRandom,
  mutation: Mutation | undefined,
): Promise<OpenedState | undefined> {
  const volume = new SimulatedVolume(random);
  const directory = new SimulatedDirectory(volume).asDirectory;
  const openWith = (mutation: DatabaseMutation | undefined) =>
    (async (path: string) =>
      new SimulatedDatabase({ volume, path, random, mutation, turnsMax: 0 }).asDatabase) as typeof openDatabase;
  const { database } = await openState(directory, openWith(undefined));
  await writeAll(database, { state, history });
  const kind = random.pick(kinds);
  if (volume.flipBit((key) => key.startsWith(kind)) === undefined) volume.flipBit();
  try {
    const opened = await openState(directory, openWith(mutation === "damageUnchecked" ? mutation : undefined));
    const { corrupt } = opened;
    if (mutation !== "unreadableServed") checkReadable(directory, { corrupt, record: { members: others } });
    return opened;
  } catch (error) {
    if (error instanceof DataDirectoryError) return undefined;
    throw error;
  }
}

/** Writes the objects with their history since the compacted revision. */
async function writeAll(database: Database, { state, history }: Held): Promise<void> {
  const { objects } = state;
  const { compactedRevision } = objects;
  const queue = new FlushQueue({
    database: () => database,
    record: () => state.record(),
    durable: emptyState,
    onFailure: (error) => {
      throw error;
    },
  });
  const base = history.scanAt(objects, compactedRevision, "", "", Number.POSITIVE_INFINITY);
  const events = base.map((entry): StoreEvent => {
    return { revision: entry.revision, type: "ADDED", entry, previous: undefined };
  });
  queue.add([...events, ...history.events]);
  await queue.flush();
  const swept = events.map(({ revision }) => ({ type: "del", key: eventKey(revision) }) as const);
  await writeDurably(database, swept);
}

/** Returns the result of work that waits for nothing but promises. */
function done<T>(work: Promise<T>): T {
  let outcome: { readonly value: T } | { readonly error: unknown } | undefined;
  work.then(
    (value) => (outcome = { value }),
    (error: unknown) => (outcome = { error }),
  );
  drainMicrotasks();
  must(outcome !== undefined, () => "a database takes turns of the event loop");
  const settled = outcome as { readonly value: T } | { readonly error: unknown };
  if ("error" in settled) throw settled.error;
  return settled.value;
}
