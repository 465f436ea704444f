import type { Entry } from "./entry.ts";
import type { Index, MemberId } from "./ids.ts";
import type { HardState } from "./ready.ts";
import type { SnapshotMeta } from "./snapshot.ts";

/** A source of random numbers. It is passed in so that a failure can be replayed from its seed. */
export interface RandomSource {
  /** Returns an integer in [0, `limit`). */
  below(limit: number): number;
}

export interface Limits {
  /** Bytes of entries in one append message: at least one entry, more while they fit. */
  readonly appendBytesMax: number;
  /** Unacknowledged appends to one follower. */
  readonly inflightMessagesMax: number;
  readonly inflightBytesMax: number;
  /** Bytes of the leader's uncommitted entries. Further proposals are rejected. */
  readonly uncommittedBytesMax: number;
  /** Bytes of one proposal. */
  readonly proposalBytesMax: number;
  /** Bytes of committed entries in one Ready. */
  readonly committedBytesMax: number;
  /** Reads that wait for confirmation at the leader. */
  readonly pendingReadsMax: number;
  /** Maximum number of entries that a caught-up learner, or a member that may take over, lacks. */
  readonly promotionLagMax: number;
}

export const defaultLimits: Limits = {
  appendBytesMax: 1 << 20,
  inflightMessagesMax: 256,
  inflightBytesMax: 16 << 20,
  uncommittedBytesMax: 64 << 20,
  proposalBytesMax: 16 << 20,
  committedBytesMax: 4 << 20,
  pendingReadsMax: 65_536,
  promotionLagMax: 1_000,
};

export interface RawNodeOptions {
  readonly id: MemberId;
  /**
   * Shortest time without a leader after which a follower stands for election. Each timeout is drawn between this and
   * twice this.
   */
  readonly electionTicks: number;
  /** Heartbeat interval, less than `electionTicks`; usually a tenth of it. */
  readonly heartbeatTicks: number;
  readonly random: RandomSource;
  readonly limits?: Partial<Limits>;
}

/**
 * The contents of the storage at start. The state machine's own snapshot (its index, term and membership) may be missing
 * from the log, if an installation was interrupted after the state was replaced and before the log was. The driver then
 * finishes the installation and passes that snapshot as `base` without entries.
 */
export interface InitialState {
  /**
   * Hard state. It may be older than the entries if their write was torn. No promise depended on that write, so it
   * contained no vote.
   */
  readonly hardState: HardState;
  /**
   * Position before `entries`. For a new cluster: index 0, term 0 and the first voters. A joining member has an empty
   * membership.
   */
  readonly base: SnapshotMeta;
  /** Entries, contiguous from `base.index` + 1. */
  readonly entries: readonly Entry[];
  /** Durable index of the state machine, between `base.index` and the last entry. */
  readonly applied: Index;
}
