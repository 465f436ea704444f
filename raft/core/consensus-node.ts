import type { ConfChange } from "./conf-change.ts";
import type { Index, MemberId, RequestId } from "./ids.ts";
import type { Membership } from "./membership.ts";
import type { Message, ProposalOutcome } from "./message.ts";
import type { Ready, SoftState, WriteMark } from "./ready.ts";
import type { Refusal } from "./refusal.ts";
import type { SnapshotMeta } from "./snapshot.ts";

/** A forwarded proposal's outcome comes in a later `Ready`, or never. */
export type ProposeAnswer = ProposalOutcome | { readonly kind: "forwarded"; readonly to: MemberId };

/** `undefined` when taken on; it happens, or does not, later. */
export type Taken = Refusal | undefined;

/**
 * All that a driver needs of the core: pure and synchronous. `new RawNode(options: RawNodeOptions, initial: InitialState)`
 * makes one. Every method may give rise to a `Ready`.
 */
export interface ConsensusNode {
  readonly id: MemberId;

  /** Time passes. */
  tick(): void;
  /** A message has come in; one that is for another member, or from nobody's member, is ignored. */
  step(message: Message): void;
  /** Stand for election without waiting for the timeout. */
  campaign(): void;

  /** The bytes are kept, not copied: they must not change any more. */
  propose(id: RequestId, data: Uint8Array): ProposeAnswer;
  /** On the leader only. */
  proposeConfChange(change: ConfChange): ProposalOutcome;
  /**
   * What a read may begin from at once, without `readIndex`: the only voter leads as long as it runs, and need ask nobody.
   * `undefined` for everybody else.
   */
  readAlone(): Index | undefined;
  /** The outcome comes in a later `Ready.readStates`; one that is lost on the way brings none, so keep a timeout. */
  readIndex(id: RequestId): Taken;
  /** On the leader only; proposals are refused until it is done or given up, one election timeout later at most. */
  transferLeadership(to: MemberId): Taken;
  /** The driver cannot write or is stalled: a leader steps down at once, and nobody stands until the next `tick`. */
  stepDown(): void;

  hasReady(): boolean;
  /** What there is to do. Proposals and reads that came in since the last one go out together, in few messages. */
  ready(): Ready;
  /** The driver has taken the last `ready`; nothing else may be called between the two. */
  advance(ready: Ready): void;
  /** The write with this mark, and every earlier one, is durable. */
  persisted(mark: WriteMark): void;
  /** The state machine has applied the entries up to `index`. */
  applied(index: Index): void;

  /** The connection to a member broke or its queue dropped something: what was sent may be lost. */
  reportUnreachable(member: MemberId): void;
  /**
   * Every connection with a member broke at once, so its process has probably ended. One that followed it as its leader
   * waits for a new one, and stands for election soon: in an order, so that voters do not meet. When the leader lives
   * after all, it is followed again when it is next heard; pre-vote keeps it in office as long as a quorum hears it.
   */
  reportGone(member: MemberId): void;
  /** A snapshot stream ended; after a failure the leader tries again at the next heartbeat. */
  reportSnapshot(member: MemberId, arrived: boolean): void;

  /** Describes a snapshot of the state at `index`, from the log's base to the applied index. */
  snapshotMeta(index: Index): SnapshotMeta;
  /** Forgets the entries up to `index`, which is at most the applied one and durable in the state machine. */
  compact(index: Index): void;

  /** What it is now; cheap. */
  readonly softState: SoftState;
  status(): Status;
}

/** For people, metrics and health checks. */
export interface Status extends SoftState {
  readonly id: MemberId;
  readonly commit: Index;
  readonly applied: Index;
  readonly durable: Index;
  readonly baseIndex: Index;
  readonly lastIndex: Index;
  /** In memory, from the base on; a driver compacts when it grows too large. */
  readonly logBytes: number;
  readonly uncommittedBytes: number;
  /** The newest in the log, committed or not: the one in force (thesis §4.1). */
  readonly membership: Membership;
  readonly transferringTo: MemberId;
  /** On a leader, each member it replicates to; else empty. */
  readonly progress: readonly ProgressStatus[];
}

export interface ProgressStatus {
  readonly member: MemberId;
  readonly state: "probe" | "replicate" | "snapshot";
  readonly match: Index;
  readonly learner: boolean;
  /** Heard from within the last election timeout. */
  readonly active: boolean;
}
