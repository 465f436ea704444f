/** The public interface of the library. `README.md` is the overview. */
export type { ConfChange, ConfOperation, ConfStep } from "./core/conf-change.ts";
export type { ProgressStatus, Status } from "./core/consensus-node.ts";
export type { Entry, EntryKind } from "./core/entry.ts";
export { type Index, type MemberId, noMember, type Term, toIndex, toMemberId } from "./core/ids.ts";
export {
  isJoint,
  isLearner,
  isVoter,
  type Membership,
  membershipOf,
  membersOf,
  noMembership,
} from "./core/membership.ts";
export { defaultLimits, type Limits } from "./core/options.ts";
export type { Role, SoftState } from "./core/ready.ts";
export type { Refusal } from "./core/refusal.ts";
export type { SnapshotMeta } from "./core/snapshot.ts";
export { type CrashPoint, crashPoints, type ReachCrashPoint } from "./crash-point.ts";
export { type Applied, RaftNode } from "./node.ts";
export type { NodeObserver, Queues } from "./node-observer.ts";
export { defaultTiming, type NodeEvents, type RaftNodeOptions, type Stall, type Timing } from "./node-options.ts";
export { RaftError, type RaftErrorCode } from "./raft-error.ts";
export type { StateImage, StateMachine } from "./state-machine.ts";
export { forceMembership } from "./storage/force-membership.ts";
export type { Log, LogContents, LogWrite } from "./storage/log.ts";
export { LogError, type LogErrorCode } from "./storage/log-error.ts";
export { MemoryLog } from "./storage/memory-log.ts";
export { createLog, foundedBy, logExists, type OpenedLog, openLog } from "./storage/open-log.ts";
export { MemoryNetwork, type NetworkFaults, noFaults } from "./transport/memory-network.ts";
export { type Address, type TlsFiles, TlsTransport, type TlsTransportOptions } from "./transport/tls-transport.ts";
export type { DropReason, HandshakeRefusal, Transport, TransportEvents } from "./transport/transport.ts";
