import type { Entry } from "./entry.ts";
import type { Index, MemberId } from "./ids.ts";
import type { HardState } from "./ready.ts";
import type { SnapshotMeta } from "./snapshot.ts";

/** Chance, passed in: a failure under a seed can be replayed. */
export interface RandomSource {
  /** A whole number in [0, `limit`). */
  below(limit: number): number;
}

export interface Limits {
  /** Entries in one append message: at least one, more while they fit. */
  readonly appendBytesMax: number;
  /** Appends to one follower that are not acknowledged yet. */
  readonly inflightMessagesMax: number;
  readonly inflightBytesMax: number;
  /** Entries of the leader that are not committed; a proposal beyond is refused. */
  readonly uncommittedBytesMax: number;
  /** One proposal. */
  readonly proposalBytesMax: number;
  /** Committed entries in one Ready. */
  readonly committedBytesMax: number;
  /** Reads that wait for confirmation at the leader. */
  readonly pendingReadsMax: number;
  /** A learner is caught up, and a member fit to take over, when it lacks at most this many entries. */
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
  /** A follower that hears nothing stands for election after `electionTicks` to twice as many, drawn anew each time. */
  readonly electionTicks: number;
  /** Less than `electionTicks`; a tenth is usual. */
  readonly heartbeatTicks: number;
  readonly random: RandomSource;
  readonly limits?: Partial<Limits>;
}

/**
 * What the storage found at start. When the state machine's own snapshot (its index, term and membership) is not in the
 * log, an installation was cut short after the state was replaced and before the log was: the driver then finishes it,
 * and passes that snapshot as `base` with no entries.
 */
export interface InitialState {
  /** May be older than the entries, whose write was torn: nothing of it was promised, so no vote was given there. */
  readonly hardState: HardState;
  /** What precedes `entries`. For a new cluster: index 0, term 0 and the first voters; for a joining member nobody. */
  readonly base: SnapshotMeta;
  /** Contiguous from `base.index` + 1. */
  readonly entries: readonly Entry[];
  /** What the state machine holds durably: from `base.index` to the last entry. */
  readonly applied: Index;
}
