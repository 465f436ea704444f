import {
  type Entry as LogRecord,
  type Index,
  type StateImage,
  type StateMachine as ReplicatedState,
  toIndex,
} from "../../../raft/index.ts";
import type { AppliedFeed } from "../applied-feed.ts";
import type { MemberNumber, MemberRecord } from "../cluster.ts";
import { CompactionSweep } from "../mvcc/compaction.ts";
import type { DataDirectory } from "../mvcc/data-directory.ts";
import type { Database, openDatabase } from "../mvcc/database.ts";
import { FlushQueue } from "../mvcc/flush-queue.ts";
import { HistoryReader } from "../mvcc/history-reader.ts";
import { type OpenImage, openImage } from "../mvcc/image.ts";
import type { OpenedState } from "../mvcc/open-state.ts";
import { IndexCache } from "../mvcc/record.ts";
import { restoreState } from "../mvcc/restore-state.ts";
import type { StateRecord } from "../mvcc/state-record.ts";
import type { Revision } from "../revision.ts";
import { Sessions } from "../sessions.ts";
import { StateMachine } from "../state-machine.ts";
import { differences } from "../state-difference.ts";
import type { CorruptEntryError, Key, StoreEvent } from "../store.ts";
import { IndexHashes } from "./index-hashes.ts";
import { type Decision, LogEntry } from "./log-entry.ts";
import type { Outcome, Proposal, Proposer } from "./proposer.ts";

export interface ReplicaStateOptions {
  readonly directory: DataDirectory;
  readonly clusterId: string;
  readonly opened: OpenedState;
  readonly feed: AppliedFeed;
  readonly proposer: Proposer;
  readonly open: typeof openDatabase;
  /** The database cannot be written any more. */
  readonly onFailure: (error: Error) => void;
}

/** The members differ in what they hold: one of them has computed, or kept, something else. */
export class DivergenceError extends Error {
  override readonly name = "DivergenceError";
}

/**
 * What the log is replicated for: the objects, who proposed what, and the members. An entry is visible as soon as it is
 * applied, for the log has it durably; the database follows behind and says how far it has come.
 */
export class ReplicaState implements ReplicatedState<undefined> {
  readonly #options: ReplicaStateOptions;
  readonly #flush: FlushQueue;
  readonly history: HistoryReader;
  readonly #hashes = new IndexHashes();
  readonly #indexes = new IndexCache();
  readonly #corrupt: Map<Key, CorruptEntryError>;
  #database: Database;
  #objects: StateMachine;
  #sessions: Sessions;
  #members: Map<MemberNumber, MemberRecord>;
  #nextMember: number;
  #index: number;
  #sweep: CompactionSweep;
  #sweeping: Promise<void> = Promise.resolve();
  #closing = false;

  constructor(options: ReplicaStateOptions) {
    const { database, record, entries, corrupt } = options.opened;
    this.#options = options;
    this.#database = database;
    this.#objects = new StateMachine({ ...record, entries });
    this.#corrupt = new Map(corrupt.map((error) => [error.key, error]));
    ({
      sessions: this.#sessions,
      members: this.#members,
      nextMember: this.#nextMember,
      index: this.#index,
    } = partsOf(record));
    this.#flush = new FlushQueue({
      database: () => this.#database,
      record: () => this.record(),
      durable: record,
      onFailure: options.onFailure,
    });
    this.history = new HistoryReader(() => ({
      database: this.#database,
      state: this.#objects,
      pending: this.#flush.pending,
      flushed: this.#flush.durable.revision,
    }));
    this.#sweep = this.#newSweep();
    this.#startSweep();
  }

  get objects(): StateMachine {
    return this.#objects;
  }

  /** Of the log: everything up to it is applied. */
  get index(): number {
    return this.#index;
  }

  get flushedIndex(): number {
    return this.#flush.durable.index;
  }

  get members(): ReadonlyMap<MemberNumber, MemberRecord> {
    return this.#members;
  }

  get corrupt(): ReadonlyMap<Key, CorruptEntryError> {
    return this.#corrupt;
  }

  record(): StateRecord {
    const { revision, compactedRevision, size, hash } = this.#objects;
    return {
      index: this.#index,
      revision,
      compactedRevision,
      size: size + this.#corrupt.size,
      hash,
      sessions: this.#sessions.records(),
      members: [...this.#members.values()],
      nextMember: this.#nextMember,
    };
  }

  durableIndex(): Index {
    return toIndex(this.#flush.durable.index);
  }

  /** Everything that the entries do becomes visible in one turn; then whoever waits for it is answered. */
  apply(entries: readonly LogRecord[]): undefined[] | Promise<undefined[]> {
    const events: StoreEvent[] = [];
    const outcomes: [Proposal, Outcome | typeof refused][] = [];
    for (const entry of entries) {
      this.#index = entry.index;
      if (entry.kind === "normal") this.#applyEntry(new LogEntry(entry.data), events, outcomes);
      this.#hashes.note(entry.index, this.#objects.hash);
    }
    const room = this.#flush.add(events);
    if (events.length > 0) this.#options.feed.publish(events, this.#objects.revision);
    for (const [proposal, outcome] of outcomes) {
      if (outcome === refused) this.#options.proposer.refuse(proposal);
      else this.#options.proposer.settle(proposal, outcome);
    }
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

  /** The state as it is now, while it goes on changing. Release it. */
  async image(): Promise<OpenImage> {
    await this.#flush.flush();
    return openImage(this.#database, this.#options.clusterId);
  }

  /** The new state is complete on disk and in memory before it takes the place of this one, in one turn. */
  async restore(index: Index, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const { directory, clusterId, open } = this.#options;
    const restored = await restoreState({ directory, clusterId, open, index, chunks });
    // Nothing more comes to be flushed: entries are applied by whoever calls this.
    await this.#flush.flush();
    const old = { database: this.#database, objects: this.#objects };
    await directory.switchDatabase();
    this.#takeOver(restored);
    const events = differences(old.objects, this.#objects);
    this.#options.feed.publish(events, this.#objects.revision, true);
    this.#options.proposer.stateReplaced(this.#sessions);
    await this.history.idle();
    await this.#sweeping;
    await old.database.close();
    await directory.removeOtherDatabase();
    this.#startSweep();
  }

  /** What is not in the database yet is in the log. */
  async close(): Promise<void> {
    this.#closing = true;
    await this.#flush.flush().catch(() => undefined);
    this.#flush.stop();
    await this.#sweeping;
    await this.#database.close();
  }

  /** Resolves when the history up to the compacted revision is removed from the disk. */
  swept(): Promise<void> {
    return this.#sweeping;
  }

  #applyEntry(entry: LogEntry, events: StoreEvent[], outcomes: [Proposal, Outcome | typeof refused][]): void {
    const proposal = this.#options.proposer.find(entry.id);
    if (!this.#sessions.admit(entry.id, this.#index)) {
      if (proposal !== undefined && !outcomes.some(([settled]) => settled === proposal))
        outcomes.push([proposal, refused]);
      return;
    }
    const outcome = entry.isDecision ? this.#decide(entry.decision()) : this.#change(entry, proposal, events);
    if (proposal !== undefined) outcomes.push([proposal, outcome]);
  }

  #change(entry: LogEntry, proposal: Proposal | undefined, events: StoreEvent[]): Outcome {
    const applied = this.#objects.apply(proposal?.commands ?? entry.commands(this.#indexes));
    for (const event of applied.events) {
      events.push(event);
      if (this.#corrupt.size > 0) this.#corrupt.delete(event.entry.key);
    }
    return applied.results;
  }

  #decide(decision: Decision): Outcome {
    switch (decision.kind) {
      case "compact":
        this.#objects.compact(decision.revision);
        this.#startSweep();
        return undefined;
      case "member":
        return this.#setMember(decision.member);
      case "forgetMember":
        this.#members.delete(decision.id);
        return undefined;
      case "verify":
        return this.#verify(decision);
    }
  }

  #setMember(member: MemberRecord): MemberRecord {
    const numbered = member.id === 0 ? { ...member, id: this.#nextMember } : member;
    this.#nextMember = Math.max(this.#nextMember, numbered.id + 1);
    this.#members.set(numbered.id, numbered);
    return numbered;
  }

  #verify({ index, revision, hash }: Decision & { kind: "verify" }): undefined {
    const own = this.#hashes.at(index);
    // Of objects that this replica cannot read it has no checksum.
    if (own === undefined || own === hash || this.#corrupt.size > 0) return;
    throw new DivergenceError(
      `the state at revision ${revision} is not that of the other members: remove this member and let it join anew`,
    );
  }

  #takeOver({ database, record, entries }: OpenedState): void {
    this.#database = database;
    this.#objects = new StateMachine({ ...record, entries });
    this.#corrupt.clear();
    ({
      sessions: this.#sessions,
      members: this.#members,
      nextMember: this.#nextMember,
      index: this.#index,
    } = partsOf(record));
    this.#flush.replace(record);
    this.#sweep = this.#newSweep();
  }

  #newSweep(): CompactionSweep {
    const database = this.#database;
    return new CompactionSweep({
      database: () => database,
      between: (write) => this.#flush.between(write),
      isStopped: () => this.#closing || this.#database !== database,
    });
  }

  /** One at a time, and after the mark that forbids to read what it removes is durable. Failures are the flush queue's. */
  #startSweep(): void {
    this.#sweeping = this.#sweeping
      .then(async () => {
        const mark: Revision = this.#objects.compactedRevision;
        await this.#flush.flush();
        await this.#sweep.run(mark);
      })
      .catch(() => undefined);
  }
}

const refused = Symbol("refused");

function partsOf(record: StateRecord) {
  const { sessions, members, nextMember, index } = record;
  return {
    sessions: new Sessions(sessions),
    members: new Map(members.map((member) => [member.id, member])),
    nextMember,
    index,
  };
}
