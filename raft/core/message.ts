import type { Entry } from "./entry.ts";
import type { Index, MemberId, RequestId, Term } from "./ids.ts";
import type { SnapshotMeta } from "./snapshot.ts";
import type { Refusal } from "./refusal.ts";

/** `term` is the sender's, except in a pre-vote and in its granted reply: there it is the term that is asked for. */
interface Envelope {
  readonly from: MemberId;
  readonly to: MemberId;
  readonly term: Term;
}

/** Would you vote for me? Moves neither term nor vote nor timer of the receiver (thesis §9.6). */
export interface PreVote extends Envelope {
  readonly type: "preVote";
  readonly lastIndex: Index;
  readonly lastTerm: Term;
}

export interface PreVoteReply extends Envelope {
  readonly type: "preVoteReply";
  readonly granted: boolean;
}

export interface Vote extends Envelope {
  readonly type: "vote";
  readonly lastIndex: Index;
  readonly lastTerm: Term;
  /** Asked for by the leader itself, so a voter answers although it hears a leader (§4.2.3, §3.10). */
  readonly transfer: boolean;
}

export interface VoteReply extends Envelope {
  readonly type: "voteReply";
  readonly granted: boolean;
}

/** `entries` follow directly on (`prevIndex`, `prevTerm`), without gap; none of them makes it a probe. */
export interface Append extends Envelope {
  readonly type: "append";
  readonly prevIndex: Index;
  readonly prevTerm: Term;
  readonly entries: readonly Entry[];
  readonly commit: Index;
}

/** The sender's durable log agrees with the leader's up to `index`. */
export interface AppendAccepted extends Envelope {
  readonly type: "appendAccepted";
  readonly index: Index;
}

/** No entry (`prevIndex`, its term) here; the last place that may agree is `hintIndex`, where this log has `hintTerm`. */
export interface AppendRejected extends Envelope {
  readonly type: "appendRejected";
  readonly prevIndex: Index;
  readonly hintIndex: Index;
  readonly hintTerm: Term;
}

/** Never waits behind entries. `commit` never passes what the receiver has acknowledged. */
export interface Heartbeat extends Envelope {
  readonly type: "heartbeat";
  readonly commit: Index;
  /** Counts the leader's rounds; a reply to a round confirms leadership for every read that came before it (§6.4). */
  readonly round: number;
}

export interface HeartbeatReply extends Envelope {
  readonly type: "heartbeatReply";
  readonly round: number;
}

/**
 * The receiver needs a snapshot: its next entry is compacted away. The core names the oldest one that will do; the
 * driver streams the state at any index from there to its applied one, and steps the message, with the meta of what
 * was really received, into the receiver's core when all of it has arrived and been verified.
 */
export interface InstallSnapshot extends Envelope {
  readonly type: "snapshot";
  readonly snapshot: SnapshotMeta;
}

/** Stand for election now: leadership is handed over (§3.10). */
export interface TimeoutNow extends Envelope {
  readonly type: "timeoutNow";
}

/** A proposal on its way to the leader. A network that repeats it makes two entries of it: the state machine must know. */
export interface Propose extends Envelope {
  readonly type: "propose";
  readonly id: RequestId;
  readonly data: Uint8Array;
}

export interface ProposeReply extends Envelope {
  readonly type: "proposeReply";
  readonly id: RequestId;
  readonly outcome: ProposalOutcome;
}

/** A read on its way to the leader. */
export interface ReadIndexRequest extends Envelope {
  readonly type: "readIndex";
  readonly id: RequestId;
}

export interface ReadIndexReply extends Envelope {
  readonly type: "readIndexReply";
  readonly id: RequestId;
  readonly outcome: ReadOutcome;
}

export type Message =
  | PreVote
  | PreVoteReply
  | Vote
  | VoteReply
  | Append
  | AppendAccepted
  | AppendRejected
  | Heartbeat
  | HeartbeatReply
  | InstallSnapshot
  | TimeoutNow
  | Propose
  | ProposeReply
  | ReadIndexRequest
  | ReadIndexReply;

export type MessageType = Message["type"];

/** Appended is not committed: the proposal counts when a committed entry with this very index and term comes out. */
export type ProposalOutcome =
  | { readonly kind: "appended"; readonly index: Index; readonly term: Term }
  | { readonly kind: "refused"; readonly reason: Refusal };

/** Confirmed: the read may be served from any state that has applied `index`. */
export type ReadOutcome =
  | { readonly kind: "confirmed"; readonly index: Index }
  | { readonly kind: "refused"; readonly reason: Refusal };
