import type { ConfChange } from "./conf-change.ts";
import type { Index, MemberId, RequestId } from "./ids.ts";
import type { Membership } from "./membership.ts";
import type { Message, ProposalOutcome } from "./message.ts";
import type { Ready, SoftState, WriteMark } from "./ready.ts";
import type { Refusal } from "./refusal.ts";
import type { SnapshotMeta } from "./snapshot.ts";

/** The answer to a proposal. The outcome of a forwarded proposal comes in a later `Ready`, or never. */
export type ProposeAnswer = ProposalOutcome | { readonly kind: "forwarded"; readonly to: MemberId };

/** `undefined` if the request is accepted. It may still succeed or fail later. */
export type Taken = Refusal | undefined;

/**
 * The interface of the core to its driver: pure and synchronous. `new RawNode(options: RawNodeOptions, initial:
 * InitialState)` makes one. Every method may cause a `Ready`.
 */
export interface ConsensusNode {
  readonly id: MemberId;

  /** Advances time by one tick. */
  tick(): void;
  /** Handles a received message. Ignores one that is addressed to another member or sent by this one. */
  step(message: Message): void;
  /** Stands for election without waiting for the timeout. */
  campaign(): void;

  /** Proposes an entry. Keeps the bytes without copying them, so they must not change afterwards. */
  propose(id: RequestId, data: Uint8Array): ProposeAnswer;
  /** Proposes a membership change. Works on the leader only. */
  proposeConfChange(change: ConfChange): ProposalOutcome;
  /**
   * Returns the index from which a read may begin at once, without `readIndex`. The only voter leads as long as it runs
   * and asks no other member. Returns `undefined` on every other member.
   */
  readAlone(): Index | undefined;
  /**
   * Requests a read. The outcome comes in a later `Ready.readStates`. A lost request has no outcome, so use a timeout.
   */
  readIndex(id: RequestId): Taken;
  /**
   * Transfers leadership; works on the leader only. It rejects proposals until the transfer ends, which takes at most
   * one election timeout.
   */
  transferLeadership(to: MemberId): Taken;
  /**
   * Gives up leadership because the driver cannot write or is stalled. A leader steps down at once, and the member does
   * not stand again before the next `tick`.
   */
  stepDown(): void;

  hasReady(): boolean;
  /** Returns the work to do. Proposals and reads since the last call are sent together in few messages. */
  ready(): Ready;
  /** Confirms that the driver took the last `ready`. No other method may be called between the two. */
  advance(ready: Ready): void;
  /** Reports that the write with this mark, and every earlier one, is durable. */
  persisted(mark: WriteMark): void;
  /** Reports that the state machine has applied the entries up to `index`. */
  applied(index: Index): void;

  /** Reports that the connection to a member broke or its queue dropped a message, so sent messages may be lost. */
  reportUnreachable(member: MemberId): void;
  /**
   * Reports that every connection with a member broke at once, so its process has probably ended. A follower of that
   * member waits for a new leader and soon stands for election; voters take turns, so that they do not compete. If the
   * leader is alive, its next message makes it the leader again; pre-vote keeps it in office while a quorum hears it.
   */
  reportGone(member: MemberId): void;
  /** Reports the end of a snapshot stream. After a failure the leader tries again at the next heartbeat. */
  reportSnapshot(member: MemberId, arrived: boolean): void;

  /** Describes a snapshot of the state at `index`, which is between the log's base and the applied index. */
  snapshotMeta(index: Index): SnapshotMeta;
  /** Removes the entries up to `index`, which must be applied and durable in the state machine. */
  compact(index: Index): void;

  /** Current state; cheap to read. */
  readonly softState: SoftState;
  status(): Status;
}

/** A status for people, metrics and health checks. */
export interface Status extends SoftState {
  readonly id: MemberId;
  readonly commit: Index;
  readonly applied: Index;
  readonly durable: Index;
  readonly baseIndex: Index;
  readonly lastIndex: Index;
  /** Bytes in memory from the base on. The driver compacts the log when this grows too large. */
  readonly logBytes: number;
  readonly uncommittedBytes: number;
  /** The newest membership in the log, committed or not. It is the one in force (thesis §4.1). */
  readonly membership: Membership;
  readonly transferringTo: MemberId;
  /** On a leader, one element for each member it replicates to; otherwise empty. */
  readonly progress: readonly ProgressStatus[];
}

export interface ProgressStatus {
  readonly member: MemberId;
  readonly state: "probe" | "replicate" | "snapshot";
  readonly match: Index;
  readonly learner: boolean;
  /** Whether it was heard from within the last election timeout. */
  readonly active: boolean;
}
