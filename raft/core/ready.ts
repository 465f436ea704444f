import type { Entry } from "./entry.ts";
import type { Index, MemberId, RequestId, Term } from "./ids.ts";
import type { Message, ProposalOutcome, ReadOutcome } from "./message.ts";
import type { SnapshotMeta } from "./snapshot.ts";

export type Role = "follower" | "preCandidate" | "candidate" | "leader";

/** The state besides the entries that must survive a crash. It is written together with them. */
export interface HardState {
  readonly term: Term;
  /** Member that got this member's vote in `term`, or `noMember`. */
  readonly vote: MemberId;
  /** Newest commit index that this member knew. */
  readonly commit: Index;
}

/** State that is useful to know but is not stored. */
export interface SoftState {
  readonly role: Role;
  readonly term: Term;
  /** The known leader, or `noMember`. */
  readonly leader: MemberId;
}

/** The point that a write reaches: everything handed out up to this write, whose last entry is (`term`, `index`). */
export interface WriteMark {
  /** Number of the write in this process, from 1. */
  readonly sequence: number;
  readonly term: Term;
  readonly index: Index;
}

/**
 * One durable write. After a crash, all of it is there, or possibly a prefix of `entries` without the rest, but never
 * with a gap. Order: the snapshot replaces first the state, then the log. The first entry cuts the log at its index.
 * `hardState` is written with the entries, after them. Writes are made in the order in which they are handed out. A
 * snapshot is installed only after all entries handed out before it are applied or abandoned.
 */
export interface Write {
  readonly mark: WriteMark;
  /** Hard state; absent if it is unchanged since the last write. */
  readonly hardState?: HardState;
  readonly entries: readonly Entry[];
  /** Snapshot to install, which the driver has received. The log begins again after it. */
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
 * The work that the core requests. The driver takes it with `advance` and then executes it in any order that respects
 * these rules:
 *
 *     send(ready.messagesNow)                          promises nothing that is not durable already
 *     write, then node.persisted(ready.write.mark)     writes in order; one at a time or several in flight
 *     send(ready.messagesAfterPersist)                 after this write and all earlier ones; at once if none is open
 *     apply(ready.committed), then node.applied(…)     in order; each entry is durable here and committed
 */
export interface Ready {
  /** Soft state; present when it changed. */
  readonly softState?: SoftState;
  /** Data to make durable, if any. */
  readonly write?: Write;
  readonly messagesNow: readonly Message[];
  readonly messagesAfterPersist: readonly Message[];
  readonly committed: readonly Entry[];
  /** Results of reads requested here. */
  readonly readStates: readonly ReadState[];
  /** Results of proposals forwarded from here. A lost reply leaves the outcome unknown. */
  readonly proposalResults: readonly ProposalResult[];
}
