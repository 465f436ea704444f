import { type Clock, systemClock } from "../../api/clock.ts";
import { AppliedFeed } from "../applied-feed.ts";
import { GroupCommit } from "../group-commit.ts";
import type { Revision } from "../revision.ts";
import { type PreparedBatch, StateMachine } from "../state-machine.ts";
import {
  type ApplyResult,
  type Command,
  type CorruptEntryError,
  type Entry,
  type EventListener,
  type Key,
  type ObjectIndex,
  type Store,
  type StoreEvent,
  StoreUnavailableError,
} from "../store.ts";
import { CompactionSweep } from "./compaction.ts";
import { DataDirectory } from "./data-directory.ts";
import { type Database, openDatabase, writeDurably } from "./database.ts";
import { HistoryReader } from "./history-reader.ts";
import { assertStorable } from "./layout.ts";
import { type OpenedState, openState } from "./open-state.ts";
import { batchOperations, type StateRecord, stateOperation } from "./state-record.ts";

export interface MvccStoreOptions {
  /** Created with mode 0700 when it does not exist. */
  readonly directory: string;
  readonly clock?: Clock;
  /** How a database is opened; tests put one with faults here. */
  readonly open?: typeof openDatabase;
}

/** The Store of a single replica: current objects in memory, everything on disk. */
export class MvccStore implements Store {
  readonly #directory: DataDirectory;
  readonly #database: Database;
  readonly #state: StateMachine;
  readonly #feed: AppliedFeed;
  readonly #writer: GroupCommit;
  readonly #history: HistoryReader;
  readonly #sweep: CompactionSweep;
  readonly #corrupt: Map<Key, CorruptEntryError>;
  /** As the newest durable state record says. */
  #record: StateRecord;
  #sweeping: Promise<void> = Promise.resolve();
  #closing: Promise<void> | undefined;

  private constructor(directory: DataDirectory, database: Database, opened: OpenedState, clock: Clock) {
    this.#directory = directory;
    this.#database = database;
    this.#record = opened.record;
    this.#state = new StateMachine({ ...opened.record, entries: opened.entries, recentCommandIds: [] });
    this.#corrupt = new Map(opened.corrupt.map((error) => [error.key, error]));
    this.#feed = new AppliedFeed(clock);
    this.#history = new HistoryReader(database, this.#state);
    this.#writer = new GroupCommit({
      state: this.#state,
      write: (batch) => this.#write(batch),
      publish: ({ events, revision }) => this.#feed.publish(events, revision),
    });
    this.#sweep = new CompactionSweep({
      database,
      between: (write) => this.#writer.between(write),
      isStopped: () => this.#closing !== undefined,
    });
    this.#startSweep();
  }

  /** @throws DataDirectoryError when the directory is in use, foreign, damaged, too new or open to others */
  static async open(options: MvccStoreOptions): Promise<MvccStore> {
    const { clock = systemClock, open = openDatabase } = options;
    const directory = await DataDirectory.open(options.directory);
    let database: Database | undefined;
    try {
      const opened = await openState(directory, open);
      database = opened.database;
      return new MvccStore(directory, database, opened, clock);
    } catch (error) {
      await database?.close();
      await directory.release();
      throw error;
    }
  }

  get revision(): Revision {
    return this.#state.revision;
  }

  get compactedRevision(): Revision {
    return this.#state.compactedRevision;
  }

  get size(): number {
    return this.#state.size;
  }

  get corrupt(): readonly CorruptEntryError[] {
    return [...this.#corrupt.values()];
  }

  corruptAt(key: Key): CorruptEntryError | undefined {
    return this.#corrupt.get(key);
  }

  get failure(): StoreUnavailableError | undefined {
    return this.#writer.failure;
  }

  /** Snapshots of the database that readers hold now. */
  get openSnapshots(): number {
    return this.#history.openSnapshots;
  }

  /** @throws CorruptEntryError when the command would put something over an object that cannot be read */
  async commit(command: Command): Promise<ApplyResult> {
    assertStorable(command.key);
    const corrupt = this.#corrupt.size === 0 ? undefined : this.#corrupt.get(command.key);
    return corrupt === undefined ? this.#writer.add(command) : this.#removeCorrupt(command, corrupt);
  }

  readBarrier(): Revision {
    return this.#state.revision;
  }

  waitFor(revision: Revision, timeoutMs: number): Promise<boolean> {
    return this.#feed.waitFor(revision, this.#state.revision, timeoutMs);
  }

  get(key: Key): Entry | undefined {
    return this.#state.get(key);
  }

  scan(prefix: Key): Entry[] {
    return this.#state.scan(prefix);
  }

  async scanAt(at: Revision, options: { prefix: Key; start?: Key; limit?: number }): Promise<Entry[]> {
    const { prefix, start = prefix, limit = Number.POSITIVE_INFINITY } = options;
    return this.#history.scanAt(at, prefix, start, limit);
  }

  async eventsAfter(after: Revision, { prefix, limit }: { prefix: Key; limit: number }): Promise<StoreEvent[]> {
    return this.#history.eventsAfter(after, prefix, limit);
  }

  subscribe(listener: EventListener): Disposable {
    return this.#feed.subscribe(listener);
  }

  /** Resolves when the history is removed; reads before `revision` fail as soon as the mark is durable. */
  async compact(revision: Revision): Promise<void> {
    if (this.#closing !== undefined) throw new StoreUnavailableError("the store is closed");
    await this.#writer.between(async () => {
      const compactedRevision = this.#state.compactionTarget(revision);
      if (compactedRevision === this.#record.compactedRevision) return;
      const record = { ...this.#record, compactedRevision };
      await writeDurably(this.#database, [stateOperation(record)]);
      this.#record = record;
      this.#state.compact(compactedRevision);
    });
    await this.#startSweep();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#writer.close();
    await this.#sweeping;
    this.#feed.close();
    await this.#database.close();
    await this.#directory.release();
  }

  async #write(batch: PreparedBatch): Promise<void> {
    const { operations, state } = batchOperations(batch, this.#record);
    await writeDurably(this.#database, operations);
    this.#record = state;
  }

  /** One sweep at a time. A failed one has poisoned the writer, which is where it shows. */
  #startSweep(): Promise<void> {
    this.#sweeping = this.#sweeping.then(() => this.#sweep.run(this.#state.compactedRevision)).catch(() => undefined);
    return this.#sweeping;
  }

  /**
   * An object that cannot be read may only be deleted, without a guard on what it was. What it was is unknown, so it is
   * replaced by the last state that the command brings, and that is deleted.
   */
  async #removeCorrupt(command: Command, corrupt: CorruptEntryError): Promise<ApplyResult> {
    const { id, key, operation, expect } = command;
    if (operation.kind !== "delete" || expect.kind !== "any") throw corrupt;
    const replace = {
      id: `${id}/replace`,
      key,
      expect,
      operation: { kind: "put", index: unknownIndex, body: operation.last },
    } as const;
    const [, deleted] = await Promise.all([this.#writer.add(replace), this.#writer.add(command)]);
    this.#corrupt.delete(key);
    return deleted;
  }
}

const unknownIndex: ObjectIndex = { apiVersion: "", uid: "", labels: undefined, fields: undefined };
