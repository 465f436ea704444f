import type { Entry } from "./entry.ts";
import type { Index, MemberId, RequestId, Term } from "./ids.ts";
import type { Refusal } from "./refusal.ts";
import type { SnapshotMeta } from "./snapshot.ts";

/** `term` is the sender's; in a pre-vote and its granted reply, it is the requested term. */
interface Envelope {
  readonly from: MemberId;
  readonly to: MemberId;
  readonly term: Term;
}

/** A request for a pre-vote. It changes neither term nor vote nor timer of the receiver (thesis §9.6). */
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
  /**
   * Whether the leader itself requested the election. The voter then answers although it hears from a leader (§4.2.3,
   * §3.10).
   */
  readonly transfer: boolean;
}

export interface VoteReply extends Envelope {
  readonly type: "voteReply";
  readonly granted: boolean;
}

/** Entries that directly follow (`prevIndex`, `prevTerm`), without a gap. An empty list makes the append a probe. */
export interface Append extends Envelope {
  readonly type: "append";
  readonly prevIndex: Index;
  readonly prevTerm: Term;
  readonly entries: readonly Entry[];
  readonly commit: Index;
}

/** Reports that the sender's durable log agrees with the leader's up to `index`. */
export interface AppendAccepted extends Envelope {
  readonly type: "appendAccepted";
  readonly index: Index;
}

/**
 * Reports that the entry (`prevIndex`, its term) is missing. The last position that may agree is `hintIndex`, where this
 * log has `hintTerm`.
 */
export interface AppendRejected extends Envelope {
  readonly type: "appendRejected";
  readonly prevIndex: Index;
  readonly hintIndex: Index;
  readonly hintTerm: Term;
}

/**
 * A heartbeat, which never waits behind entries. `commit` never passes the index that the receiver has acknowledged.
 */
export interface Heartbeat extends Envelope {
  readonly type: "heartbeat";
  readonly commit: Index;
  /** Number of the leader's round. A reply to a round confirms leadership for every read that came before it (§6.4). */
  readonly round: number;
}

export interface HeartbeatReply extends Envelope {
  readonly type: "heartbeatReply";
  readonly round: number;
}

/**
 * A snapshot for a receiver whose next entry is compacted. The core names the oldest sufficient index. The driver streams
 * the state at any index from there to its applied one. When everything has arrived and is verified, the receiving driver
 * steps the message, with the meta of the received snapshot, into its core.
 */
export interface InstallSnapshot extends Envelope {
  readonly type: "snapshot";
  readonly snapshot: SnapshotMeta;
}

/** An order to stand for election now, which transfers leadership (§3.10). */
export interface TimeoutNow extends Envelope {
  readonly type: "timeoutNow";
}

/**
 * A proposal on its way to the leader. If a network duplicates it, there are two entries, which the state machine must
 * detect.
 */
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

/**
 * The outcome of a proposal. An appended entry is not committed yet: the proposal succeeded once an entry with the same
 * index and term is committed.
 */
export type ProposalOutcome =
  | { readonly kind: "appended"; readonly index: Index; readonly term: Term }
  | { readonly kind: "refused"; readonly reason: Refusal };

/** The outcome of a read. A confirmed read may be served from any state that has applied `index`. */
export type ReadOutcome =
  | { readonly kind: "confirmed"; readonly index: Index }
  | { readonly kind: "refused"; readonly reason: Refusal };
