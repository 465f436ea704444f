import type { MemberId } from "./core/ids.ts";
import type { Membership } from "./core/membership.ts";
import type { Message } from "./core/message.ts";
import type { Limits } from "./core/options.ts";
import type { SoftState } from "./core/ready.ts";
import type { ReachCrashPoint } from "./crash-point.ts";
import type { NodeObserver } from "./node-observer.ts";
import type { StateMachine } from "./state-machine.ts";
import type { Log } from "./storage/log.ts";
import type { DropReason, HandshakeRefusal, Transport } from "./transport/transport.ts";

export interface RaftNodeOptions<Result> {
  readonly id: MemberId;
  readonly log: Log;
  readonly transport: Transport;
  readonly stateMachine: StateMachine<Result>;
  /** Members to accept messages from while the log names none; for a joining member. */
  readonly seeds?: readonly MemberId[];
  readonly timing?: Partial<Timing>;
  readonly limits?: Partial<Limits>;
  /** Size above which the log is compacted. `tailEntries` are kept for slow followers. */
  readonly logBytesMax?: number;
  readonly tailEntries?: number;
  readonly events?: Partial<NodeEvents>;
  readonly observer?: Partial<NodeObserver>;
  readonly reach?: ReachCrashPoint;
}

export interface Timing {
  readonly heartbeatMs: number;
  /** Shortest time without a leader after which a follower stands for election; the longest is twice this. */
  readonly electionMs: number;
  /** Time after which the outcome of a proposal is unknown. */
  readonly proposalMs: number;
  /** Time after which a read counts as unconfirmed. */
  readonly readMs: number;
}

export const defaultTiming: Timing = { heartbeatMs: 100, electionMs: 1000, proposalMs: 10_000, readMs: 5000 };

export type Stall = "disk" | "stateMachine" | "process";

export interface NodeEvents {
  softState(state: SoftState): void;
  membership(membership: Membership): void;
  /**
   * Reports that the disk, the state machine or the core failed. The node has stopped, and a new process must start it
   * again.
   */
  failed(error: Error): void;
  dropped(message: Message, reason: DropReason): void;
  violated(member: MemberId | undefined, violation: Error): void;
  refused(member: MemberId, refusal: HandshakeRefusal): void;
  /**
   * Reports that the disk, the state machine or this process stood still for an election timeout. A leader has then given
   * up leadership, unless it is the only voter.
   */
  stalled(what: Stall, ms: number): void;
}
