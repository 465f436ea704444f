import type { Entry } from "../core/entry.ts";
import type { HardState } from "../core/ready.ts";
import type { SnapshotMeta } from "../core/snapshot.ts";

/** What a member must find again after a crash: the core's `InitialState` without the state machine's part. */
export interface LogContents {
  readonly hardState: HardState;
  /** What precedes `entries`. */
  readonly base: SnapshotMeta;
  /** Contiguous from `base.index` + 1. */
  readonly entries: readonly Entry[];
  /** The newest snapshot that was expected; it was not installed when the log does not hold its place. */
  readonly expected?: SnapshotMeta;
}

/** In this order: the snapshot begins the log anew, the first entry cuts what the log holds from its index on. */
export interface LogWrite {
  /** Absent when it is as in the write before. */
  readonly hardState?: HardState;
  readonly entries: readonly Entry[];
  /** The log holds nothing but what follows this place; the state machine has the state durably. */
  readonly snapshot?: SnapshotMeta;
  /**
   * The state machine is about to restore this one. Should the process end between that and the write with `snapshot`,
   * the state is ahead of the log: this says what the log has to begin with.
   */
  readonly expected?: SnapshotMeta;
}

/**
 * The durable log of one member. The core keeps the entries in memory, so a log is read once, when it is opened, and
 * from then on only written.
 *
 * Invariant: after a crash at any moment the log holds every write whose `append` resolved and, of the later ones, a
 * first part; each write is there as a whole or not at all.
 */
export interface Log {
  /** As found when it was opened. Meant to be taken over by the core and then let go. */
  readonly recovered: LogContents;
  /**
   * Resolves when the write is durable. Several may wait: they are made in the order of the calls, as many as possible
   * with one sync.
   * @throws LogError `poisoned` from the first failed write on, for good: what is on disk is unknown
   */
  append(write: LogWrite): Promise<void>;
  /**
   * Forgets the entries up to `base.index`, which the state machine holds durably. The log may keep some of them on disk,
   * but will not return them. Resolves when the space is free for new entries.
   * @throws LogError as `append`
   */
  compact(base: SnapshotMeta): Promise<void>;
  /** Lets writes that were begun end; others fail. */
  close(): Promise<void>;
}
