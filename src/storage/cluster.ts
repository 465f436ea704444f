/** Number of a member within its cluster, from 1; never given twice. */
export type MemberNumber = number;

/** What the replicated state knows of a member. */
export interface MemberRecord {
  readonly id: MemberNumber;
  /** What people call it: the host's name unless given; unique. */
  readonly name: string;
  /** `host:port` that the other members reach it at. */
  readonly peerAddress: string;
  /** `https://host:port` of its API. */
  readonly clientUrl: string;
  /** Who it is in gossip, and the `host:port` of it; absent where that is off. */
  readonly peerId?: string;
  readonly gossipAddress?: string;
}

export const memberRoles = ["leader", "voter", "learner"] as const;
export type MemberRole = (typeof memberRoles)[number];

/** A member as one replica sees it now. */
export interface MemberStatus extends MemberRecord {
  /** `none`: recorded, and takes no part: it is being added or removed, or that was not brought to its end. */
  readonly role: MemberRole | "none";
  /** Newest log index that it is known to hold; only the leader knows it of others. */
  readonly matchIndex: number | undefined;
  /** Whether the leader has heard of it within an election timeout; only the leader knows. */
  readonly isActive: boolean | undefined;
}

/** One replica's own state. Indexes are those of the log, revisions those of the store; sizes in bytes. */
export interface ReplicaStatus {
  readonly clusterId: string;
  readonly self: MemberNumber;
  readonly role: MemberRole | "candidate" | "removed";
  readonly leader: MemberNumber | undefined;
  readonly term: number;
  readonly lastIndex: number;
  readonly commitIndex: number;
  readonly appliedIndex: number;
  /** What LevelDB holds durably. */
  readonly flushedIndex: number;
  readonly revision: number;
  readonly compactedRevision: number;
  readonly objects: number;
  readonly logBytes: number;
  /** Of the state at `appliedIndex`, hexadecimal: equal on all members at an equal index. */
  readonly stateHash: string;
  readonly members: readonly MemberStatus[];
  readonly failure: string | undefined;
}

/** Whether it takes part in decisions. */
export function votes({ role }: Pick<MemberStatus, "role">): boolean {
  return role === "leader" || role === "voter";
}

/** The members and the leadership of a replicated store. Changes are made on the leader and fail elsewhere. */
export interface Cluster {
  readonly clusterId: string;
  readonly self: MemberNumber;
  readonly isLeader: boolean;
  status(): ReplicaStatus;
  /** From the replicated state, by id. */
  members(): readonly MemberRecord[];
  /** True when this replica is the leader and a quorum has said so after the call. */
  confirmLeader(): Promise<boolean>;
  /** Gives the next free id, records the member and adds it as a learner. @throws ClusterError */
  addLearner(member: Omit<MemberRecord, "id">): Promise<MemberRecord>;
  /** Refused while it has not caught up. @throws ClusterError */
  promote(id: MemberNumber): Promise<void>;
  /** Refused where the healthy members left would be no quorum. @throws ClusterError */
  remove(id: MemberNumber): Promise<void>;
  /** Resolves when the other member leads. @throws ClusterError */
  transferLeadership(to: MemberNumber): Promise<void>;
  /** Changes the addresses of a member. @throws ClusterError */
  updateMember(member: MemberRecord): Promise<void>;
  /** A consistent, checksummed image of the state as of one revision, while writes go on. Dispose when read. */
  image(): Promise<ClusterImage>;
}

export interface ClusterImage extends Disposable {
  readonly revision: number;
  readonly chunks: AsyncIterable<Uint8Array>;
}

export type ClusterErrorCode =
  | "notLeader"
  | "unknownMember"
  | "notCaughtUp"
  | "quorumAtRisk"
  | "busy"
  | "conflict"
  | "unknown";

/** Why a change was not made; `unknown`: it may have been. The message is for people. */
export class ClusterError extends Error {
  readonly code: ClusterErrorCode;
  /** Who leads, as far as this replica knows. */
  readonly leader: MemberNumber | undefined;
  constructor(code: ClusterErrorCode, message: string, leader?: MemberNumber) {
    super(message);
    this.name = "ClusterError";
    this.code = code;
    this.leader = leader;
  }
}

/** What concerns other members was asked of a replica that has none. */
export function aloneError(): ClusterError {
  return new ClusterError("conflict", "this replica is alone: start it with --peer-address, where others reach it");
}
