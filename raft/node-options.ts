import type { ReachCrashPoint } from "./crash-point.ts";
import type { MemberId } from "./core/ids.ts";
import type { Membership } from "./core/membership.ts";
import type { Message } from "./core/message.ts";
import type { Limits } from "./core/options.ts";
import type { SoftState } from "./core/ready.ts";
import type { NodeObserver } from "./node-observer.ts";
import type { StateMachine } from "./state-machine.ts";
import type { Log } from "./storage/log.ts";
import type { DropReason, HandshakeRefusal, Transport } from "./transport/transport.ts";

export interface RaftNodeOptions<Result> {
  readonly id: MemberId;
  readonly log: Log;
  readonly transport: Transport;
  readonly stateMachine: StateMachine<Result>;
  /** Whom to listen to while the log names no members: for a member that joins. */
  readonly seeds?: readonly MemberId[];
  readonly timing?: Partial<Timing>;
  readonly limits?: Partial<Limits>;
  /** Above so many bytes the log is compacted, with `tailEntries` kept for slow followers. */
  readonly logBytesMax?: number;
  readonly tailEntries?: number;
  readonly events?: Partial<NodeEvents>;
  readonly observer?: Partial<NodeObserver>;
  readonly reach?: ReachCrashPoint;
}

export interface Timing {
  readonly heartbeatMs: number;
  /** A follower that hears nothing for this to twice this long stands for election. */
  readonly electionMs: number;
  /** A proposal without outcome for so long is unknown. */
  readonly proposalMs: number;
  /** A read without confirmation for so long is unconfirmed. */
  readonly readMs: number;
}

export const defaultTiming: Timing = { heartbeatMs: 100, electionMs: 1000, proposalMs: 10_000, readMs: 5000 };

export type Stall = "disk" | "stateMachine" | "process";

export interface NodeEvents {
  softState(state: SoftState): void;
  membership(membership: Membership): void;
  /** The disk, the state machine or the core failed: the node has stopped and must be started anew by a new process. */
  failed(error: Error): void;
  dropped(message: Message, reason: DropReason): void;
  violated(member: MemberId | undefined, violation: Error): void;
  refused(member: MemberId, refusal: HandshakeRefusal): void;
  /**
   * The disk, the state machine or this process stood still for an election timeout; leadership, if any, was given up, but
   * for the only voter's, whom nobody could replace.
   */
  stalled(what: Stall, ms: number): void;
}
