import {
  type Index,
  type Entry as LogRecord,
  type StateMachine as ReplicatedByLog,
  type StateImage,
  toIndex,
} from "../../../raft/index.ts";
import type { Key } from "../../api/entry.ts";
import type { AppliedFeed } from "../applied-feed.ts";
import type { MemberNumber, MemberRecord } from "../cluster.ts";
import { CompactionSweep } from "../mvcc/compaction.ts";
import type { DataDirectory } from "../mvcc/data-directory.ts";
import type { Database, openDatabase } from "../mvcc/database.ts";
import { FlushQueue } from "../mvcc/flush-queue.ts";
import { HistoryReader } from "../mvcc/history-reader.ts";
import { type OpenImage, openImage } from "../mvcc/image.ts";
import type { OpenedState } from "../mvcc/open-state.ts";
import { restoreState } from "../mvcc/restore-state.ts";
import type { StateRecord } from "../mvcc/state-record.ts";
import { differences } from "../state-difference.ts";
import type { StateMachine } from "../state-machine.ts";
import type { CorruptEntryError } from "../store.ts";
import type { LogFollowers } from "./log-followers.ts";
import type { Proposer } from "./proposer.ts";
import { ReplicatedState } from "./replicated-state.ts";

export interface ReplicaStateOptions {
  readonly directory: DataDirectory;
  readonly clusterId: string;
  readonly opened: OpenedState;
  readonly feed: AppliedFeed;
  readonly proposer: Proposer;
  readonly followers: LogFollowers;
  readonly open: typeof openDatabase;
  /** Called when the database is no longer writable. */
  readonly onFailure: (error: Error) => void;
}

/**
 * A replica's state with its database. An entry is visible as soon as it is applied, because the log already holds it
 * durably. The database follows and records its position.
 */
export class ReplicaState implements ReplicatedByLog<undefined> {
  readonly #options: ReplicaStateOptions;
  readonly #flush: FlushQueue;
  readonly history: HistoryReader;
  #database: Database;
  #state: ReplicatedState;
  #sweep: CompactionSweep;
  #sweeping: Promise<void> = Promise.resolve();
  #closing = false;

  constructor(options: ReplicaStateOptions) {
    const { database, record, entries, corrupt } = options.opened;
    this.#options = options;
    this.#database = database;
    this.#state = new ReplicatedState(record, entries, corrupt);
    entries.length = 0;
    this.#flush = new FlushQueue({
      database: () => this.#database,
      record: () => this.#state.record(),
      durable: record,
      onFailure: options.onFailure,
    });
    this.history = new HistoryReader(() => ({
      database: this.#database,
      state: this.#state.objects,
      pending: this.#flush.pending,
      flushed: this.#flush.durable.revision,
    }));
    this.#sweep = this.#newSweep();
    this.#startSweep();
  }

  get objects(): StateMachine {
    return this.#state.objects;
  }

  /** The log index up to which everything is applied. */
  get index(): number {
    return this.#state.index;
  }

  get flushedIndex(): number {
    return this.#flush.durable.index;
  }

  mayHaveJoined(id: MemberNumber): boolean {
    return this.#state.mayHaveJoined(id);
  }

  wasRemoved(id: MemberNumber): boolean {
    return this.#state.wasRemoved(id);
  }

  get members(): ReadonlyMap<MemberNumber, MemberRecord> {
    return this.#state.members;
  }

  /** Describes the current state, without its objects. */
  record(): StateRecord {
    return this.#state.record();
  }

  get corrupt(): ReadonlyMap<Key, CorruptEntryError> {
    return this.#state.corrupt;
  }

  durableIndex(): Index {
    return toIndex(this.#flush.durable.index);
  }

  /** Applies entries. All their effects become visible in one turn, before their callers are answered. */
  apply(entries: readonly LogRecord[]): undefined[] | Promise<undefined[]> {
    const { proposer, feed, followers } = this.#options;
    const effects = entries.map((entry) => this.#state.apply(entry, (id) => proposer.find(id)?.commands));
    const events =
      effects.length === 1 ? (effects[0]?.events ?? []) : effects.flatMap((effect) => effect?.events ?? []);
    const room = this.#flush.add(events);
    if (events.length > 0) feed.publish(events, this.#state.objects.revision);
    followers.applied(entries);
    for (const effect of effects) if (effect !== undefined) proposer.applied(effect);
    if (effects.some((effect) => effect?.compacted === true)) this.#startSweep();
    const results = entries.map(() => undefined);
    return room === undefined ? results : room.then(() => results);
  }

  async checkpoint(): Promise<Index> {
    await this.#flush.flush();
    return this.durableIndex();
  }

  async snapshot(): Promise<StateImage> {
    const image = await this.image();
    return { index: toIndex(image.header.record.index), chunks: image.chunks, release: image.release };
  }

  /** Opens an image of the current state, while the state keeps changing. Release it after use. */
  async image(): Promise<OpenImage> {
    await this.#flush.flush();
    return openImage(this.#database, this.#options.clusterId);
  }

  /** Replaces the state. The new state is complete on disk and in memory before it replaces this one in a single turn. */
  async restore(index: Index, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const { directory, clusterId, open } = this.#options;
    const restored = await restoreState({ directory, clusterId, open, index, chunks });
    // Nothing more is added to the flush queue, because the caller of this method also applies entries.
    await this.#flush.flush();
    await directory.switchDatabase();
    const [oldDatabase, oldState] = [this.#database, this.#state];
    this.#takeOver(restored);
    const { objects, sessions } = this.#state;
    this.#options.feed.publish(differences(oldState.objects, objects), objects.revision, true);
    this.#options.followers.replaced();
    this.#options.proposer.stateReplaced(sessions);
    await this.history.idle();
    await this.#sweeping;
    await oldDatabase.close();
    await directory.removeOtherDatabase();
    this.#startSweep();
  }

  /** Closes the database. The log has the changes that the database lacks. */
  async close(): Promise<void> {
    this.#closing = true;
    await this.#flush.flush().catch(() => undefined);
    this.#flush.stop();
    await this.#sweeping;
    await this.#database.close();
  }

  /** Resolves when the history up to the compacted revision is removed from disk. */
  swept(): Promise<void> {
    return this.#sweeping;
  }

  #takeOver({ database, record, entries, corrupt }: OpenedState): void {
    this.#database = database;
    this.#state = new ReplicatedState(record, entries, corrupt);
    this.#flush.replace(record);
    this.#sweep = this.#newSweep();
  }

  #newSweep(): CompactionSweep {
    const database = this.#database;
    return new CompactionSweep({
      database,
      between: (write) => this.#flush.between(write),
      isStopped: () => this.#closing || this.#database !== database,
    });
  }

  /**
   * Runs one sweep at a time, once the mark that forbids reads of the removed data is durable. The flush queue reports
   * failures.
   */
  #startSweep(): void {
    this.#sweeping = this.#sweeping
      .then(async () => {
        const mark = this.#state.objects.compactedRevision;
        await this.#flush.flush();
        await this.#sweep.run(mark);
      })
      .catch(() => undefined);
  }
}
