import type { Entry } from "./entry.ts";
import type { Index, MemberId, RequestId, Term } from "./ids.ts";
import type { Message, ProposalOutcome, ReadOutcome } from "./message.ts";
import type { SnapshotMeta } from "./snapshot.ts";

export type Role = "follower" | "preCandidate" | "candidate" | "leader";

/** What must survive a crash beside the entries; written in one piece with them. */
export interface HardState {
  readonly term: Term;
  /** Who got this member's vote in `term`; `noMember` when nobody did. */
  readonly vote: MemberId;
  /** Committed as far as this member knew. */
  readonly commit: Index;
}

/** Worth knowing, not worth storing. */
export interface SoftState {
  readonly role: Role;
  readonly term: Term;
  /** `noMember` while none is known. */
  readonly leader: MemberId;
}

/** How far a write takes the disk: everything handed out up to this write, its last entry being (`term`, `index`). */
export interface WriteMark {
  /** Counts the writes of this process, from 1. */
  readonly sequence: number;
  readonly term: Term;
  readonly index: Index;
}

/**
 * One durable write: all of it or, after a crash, possibly a prefix of `entries` without the rest, never a gap.
 * Order: the snapshot replaces first the state, then the log; the first entry cuts what the log holds from its index
 * on; `hardState` is written together with the entries, behind them. Writes are made in the order they are handed out.
 * A snapshot is installed only when everything handed out to be applied before it has been applied or given up.
 */
export interface Write {
  readonly mark: WriteMark;
  /** Absent when it is as in the write before. */
  readonly hardState?: HardState;
  readonly entries: readonly Entry[];
  /** Install this snapshot, which the driver has received, and begin the log anew behind it. */
  readonly snapshot?: SnapshotMeta;
}

export interface ProposalResult {
  readonly id: RequestId;
  readonly outcome: ProposalOutcome;
}

export interface ReadState {
  readonly id: RequestId;
  readonly outcome: ReadOutcome;
}

/**
 * What the core wants done. The driver takes it with `advance` and then, in any order but for what is said here:
 *
 *     send(ready.messagesNow)                          promises nothing that is not durable already
 *     write, then node.persisted(ready.write.mark)     writes in order; one at a time or several in flight
 *     send(ready.messagesAfterPersist)                 after this write and all earlier ones; at once if none is open
 *     apply(ready.committed), then node.applied(…)     in order; each entry is durable here and committed
 */
export interface Ready {
  /** Present when it changed. */
  readonly softState?: SoftState;
  /** Present when something must be made durable. */
  readonly write?: Write;
  readonly messagesNow: readonly Message[];
  readonly messagesAfterPersist: readonly Message[];
  readonly committed: readonly Entry[];
  /** What became of reads asked for here. */
  readonly readStates: readonly ReadState[];
  /** What became of proposals forwarded from here; a lost reply leaves no result, and the outcome unknown. */
  readonly proposalResults: readonly ProposalResult[];
}
