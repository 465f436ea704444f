import { RaftError, type RaftNode } from "../../../raft/index.ts";
import type { Entry, Key, ObjectIndex } from "../../api/entry.ts";
import type { Revision } from "../../api/revision.ts";
import { atMost } from "../../process/at-most.ts";
import type { Clock } from "../../process/clock.ts";
import { thrownText } from "../../process/thrown-text.ts";
import type { AppliedFeed } from "../applied-feed.ts";
import { CommandQueue } from "../command-queue.ts";
import type { HistoryReader } from "../mvcc/history-reader.ts";
import { assertStorable } from "../mvcc/layout.ts";
import {
  type ApplyResult,
  type Command,
  type CorruptEntryError,
  type EventListener,
  type Store,
  type StoreEvent,
  StoreUnavailableError,
} from "../store.ts";
import type { LeaderWatch } from "./leader-watch.ts";
import type { Proposer } from "./proposer.ts";
import type { ReplicaState } from "./replica-state.ts";

/** Time after which a read fails that no leader has confirmed; longer than an election. */
const readTimeoutMs = 5_000;
const readRetryMs = 100;
/** Grace period of running writes when the store is closed. Without a quorum they would take much longer. */
const closeWaitMsMax = 1_000;

/** The part of a replica's state that the store uses. */
export interface ServedState extends Pick<ReplicaState, "objects" | "corrupt" | "swept" | "close"> {
  readonly history: Pick<HistoryReader, "scanAt" | "eventsAfter" | "openSnapshots">;
}

export interface ReplicatedStoreParts {
  readonly state: ServedState;
  readonly node: Pick<RaftNode<undefined>, "readAlone" | "readIndex" | "stop">;
  readonly proposer: Proposer;
  readonly feed: AppliedFeed;
  readonly leader: LeaderWatch;
  readonly clock: Clock;
  /** Runs a function in the next turn of the event loop. */
  readonly defer?: (run: () => void) => void;
  readonly verifier: Disposable;
  /** Lets another replica lead. */
  readonly handOver: () => Promise<void>;
  /** Releases the directory, the log and the network. */
  readonly release: () => Promise<void>;
}

/**
 * The Store on a replicated log: current objects in memory, everything on disk, the same on every replica. A single
 * replica is its own quorum.
 */
export class ReplicatedStore implements Store {
  readonly #parts: ReplicatedStoreParts;
  readonly #queue: CommandQueue;
  #failure: StoreUnavailableError | undefined;
  #closing: Promise<void> | undefined;

  constructor(parts: ReplicatedStoreParts) {
    this.#parts = parts;
    this.#queue = new CommandQueue((commands) => parts.proposer.commands(commands), parts.defer);
  }

  get revision(): Revision {
    return this.#parts.state.objects.revision;
  }

  get compactedRevision(): Revision {
    return this.#parts.state.objects.compactedRevision;
  }

  get size(): number {
    return this.#parts.state.objects.size;
  }

  get corrupt(): readonly CorruptEntryError[] {
    return [...this.#parts.state.corrupt.values()];
  }

  corruptAt(key: Key): CorruptEntryError | undefined {
    return this.#parts.state.corrupt.get(key);
  }

  isStale(): false {
    return false;
  }

  get failure(): StoreUnavailableError | undefined {
    return this.#failure;
  }

  /** Number of database snapshots that readers hold. */
  get openSnapshots(): number {
    return this.#parts.state.history.openSnapshots;
  }

  /** Commits a command. @throws CorruptEntryError if the command would overwrite an unreadable object */
  async commit(command: Command): Promise<ApplyResult> {
    assertStorable(command.key);
    const { corrupt } = this.#parts.state;
    const unreadable = corrupt.size === 0 ? undefined : corrupt.get(command.key);
    return unreadable === undefined ? this.#queue.add(command) : this.#removeCorrupt(command, unreadable);
  }

  /** Returns at once if this replica is its own quorum and has applied everything. */
  readBarrier(): Revision | Promise<Revision> {
    if (this.#failure !== undefined) throw this.#failure;
    return this.#parts.node.readAlone() === undefined ? this.#confirmedRevision() : this.revision;
  }

  waitFor(revision: Revision, timeoutMs: number): Promise<boolean> {
    return this.#parts.feed.waitFor(revision, this.revision, timeoutMs);
  }

  get(key: Key): Entry | undefined {
    return this.#parts.state.objects.get(key);
  }

  scan(prefix: Key): Entry[] {
    return this.#parts.state.objects.scan(prefix);
  }

  async scanAt(at: Revision, options: { prefix: Key; start?: Key; limit?: number }): Promise<Entry[]> {
    const { prefix, start = prefix, limit = Number.POSITIVE_INFINITY } = options;
    return this.#parts.state.history.scanAt(at, prefix, start, limit);
  }

  async eventsAfter(after: Revision, { prefix, limit }: { prefix: Key; limit: number }): Promise<StoreEvent[]> {
    return this.#parts.state.history.eventsAfter(after, prefix, limit);
  }

  subscribe(listener: EventListener): Disposable {
    return this.#parts.feed.subscribe(listener);
  }

  /**
   * Resolves when the history is removed here. Reads before `revision` fail everywhere once the compaction is decided.
   */
  async compact(revision: Revision): Promise<void> {
    const { proposer, state } = this.#parts;
    if (revision > this.compactedRevision) await proposer.decide({ kind: "compact", revision });
    await state.swept();
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Stops the store after an error. It accepts no more commands, and callers learn that their outcome is unknown. */
  fail(error: StoreUnavailableError): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#queue.close(error);
    this.#parts.proposer.stop(error);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { node, state, feed, proposer, clock, handOver, release, verifier } = this.#parts;
    verifier[Symbol.dispose]();
    const closed = new StoreUnavailableError("the store is closed");
    this.#queue.close(closed);
    await atMost(clock, closeWaitMsMax, this.#queue.idle());
    await handOver();
    this.#failure ??= closed;
    proposer.stop(closed);
    await node.stop();
    feed.close();
    await state.close();
    await release();
  }

  async #confirmedRevision(): Promise<Revision> {
    const { node, leader, clock } = this.#parts;
    const deadlineMs = clock.steadyMs() + readTimeoutMs;
    for (;;) {
      try {
        await node.readIndex();
        return this.revision;
      } catch (error) {
        const leftMs = deadlineMs - clock.steadyMs();
        if (!(error instanceof RaftError) || error.code === "stopped" || leftMs <= 0) throw unconfirmed(error);
        await leader.changed(Math.min(readRetryMs, leftMs));
      }
    }
  }

  /**
   * Deletes an unreadable object. No other change is allowed, nor a precondition on its state. Its state is unknown, so
   * it is first replaced by the last state in the command, which is then deleted.
   */
  async #removeCorrupt(command: Command, corrupt: CorruptEntryError): Promise<ApplyResult> {
    const { key, operation, expect } = command;
    if (operation.kind !== "delete" || expect.kind !== "any") throw corrupt;
    const replace = { key, expect, operation: { kind: "put", index: unknownIndex, body: operation.last } } as const;
    const [, deleted] = await Promise.all([this.#queue.add(replace), this.#queue.add(command)]);
    return deleted;
  }
}

const unknownIndex: ObjectIndex = { apiVersion: "", uid: "", labels: undefined, fields: undefined, owners: undefined };

function unconfirmed(error: unknown): StoreUnavailableError {
  const why = thrownText(error);
  return new StoreUnavailableError(`no quorum confirms that this replica is up to date: ${why}`, "notDone");
}
