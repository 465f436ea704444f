import type { Entry } from "../core/entry.ts";
import type { HardState } from "../core/ready.ts";
import type { SnapshotMeta } from "../core/snapshot.ts";

/** The data that a member must find after a crash: the core's `InitialState` without the state machine's part. */
export interface LogContents {
  readonly hardState: HardState;
  /** Position before `entries`. */
  readonly base: SnapshotMeta;
  /** Entries, contiguous from `base.index` + 1. */
  readonly entries: readonly Entry[];
  /** Newest expected snapshot. It was not installed if the log does not contain its position. */
  readonly expected?: SnapshotMeta;
}

/** A write. The snapshot begins the log again before the first entry cuts the log at its index. */
export interface LogWrite {
  /** Hard state; absent when it is unchanged since the last write. */
  readonly hardState?: HardState;
  readonly entries: readonly Entry[];
  /** Snapshot after which the log begins again. The state machine has its state durably. */
  readonly snapshot?: SnapshotMeta;
  /**
   * Snapshot that the state machine is about to restore. If the process ends between that and the write with
   * `snapshot`, the state is ahead of the log, and this is the log's new base.
   */
  readonly expected?: SnapshotMeta;
}

/**
 * The durable log of one member. The core keeps the entries in memory, so a log is read once, when it is opened, and
 * only written afterwards.
 *
 * Invariant: after a crash at any moment the log holds every write whose `append` resolved, and a prefix of the later
 * ones. Each write is there completely or not at all.
 */
export interface Log {
  /** Contents found at the open. The core takes them over, and the first write releases them. */
  readonly recovered: LogContents;
  /**
   * Resolves when the write is durable. Several may wait. They are made in the order of the calls, as many as possible
   * with one sync.
   * @throws LogError `poisoned` from the first failed write on, permanently, because the contents of the disk are
   * unknown
   */
  append(write: LogWrite): Promise<void>;
  /**
   * Removes the entries up to `base.index`, which the state machine holds durably. The log may keep some of them on
   * disk but does not return them. Resolves when the space is free for new entries.
   * @throws LogError as `append`
   */
  compact(base: SnapshotMeta): Promise<void>;
  /** Waits for writes that have begun. Others fail. */
  close(): Promise<void>;
}
