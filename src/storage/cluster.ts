/** A member's number within its cluster. Numbers start at 1 and are never reused. */
export type MemberNumber = number;

/** The replicated record of a member. */
export interface MemberRecord {
  readonly id: MemberNumber;
  /** Unique display name; the host's name by default. */
  readonly name: string;
  /** Address as `host:port` at which other members reach it. */
  readonly peerAddress: string;
  /** URL of its API as `https://host:port`. */
  readonly clientUrl: string;
  /** Identity and `host:port` in gossip; absent if gossip is off. */
  readonly peerId?: string;
  readonly gossipAddress?: string;
}

export const memberRoles = ["leader", "voter", "learner"] as const;
export type MemberRole = (typeof memberRoles)[number];

/** A member as one replica sees it now. */
export interface MemberStatus extends MemberRecord {
  /**
   * Role in the cluster. A member with `none` has a record but does not take part: it is being added or removed, or such
   * a change was interrupted.
   */
  readonly role: MemberRole | "none";
  /** The newest log index that it is known to hold. Only the leader knows it for other members. */
  readonly matchIndex: number | undefined;
  /** Whether the leader heard from it within an election timeout. Only the leader knows. */
  readonly isActive: boolean | undefined;
}

/** The state of one replica. Indexes refer to the log, revisions to the store. Sizes are in bytes. */
export interface ReplicaStatus {
  readonly clusterId: string;
  readonly self: MemberNumber;
  readonly role: MemberRole | "candidate" | "removed";
  readonly leader: MemberNumber | undefined;
  readonly term: number;
  readonly lastIndex: number;
  readonly commitIndex: number;
  readonly appliedIndex: number;
  /** The index up to which LevelDB is durable. */
  readonly flushedIndex: number;
  readonly revision: number;
  readonly compactedRevision: number;
  readonly objects: number;
  readonly logBytes: number;
  /** Hexadecimal hash of the state at `appliedIndex`. All members have the same hash at the same index. */
  readonly stateHash: string;
  readonly members: readonly MemberStatus[];
  readonly failure: string | undefined;
}

/** Reports whether a member votes. */
export function votes({ role }: Pick<MemberStatus, "role">): boolean {
  return role === "leader" || role === "voter";
}

/** The members and the leadership of a replicated store. Changes are made on the leader and fail elsewhere. */
export interface Cluster {
  readonly clusterId: string;
  readonly self: MemberNumber;
  readonly isLeader: boolean;
  status(): ReplicaStatus;
  /** Returns the members in the replicated state, by id. */
  members(): readonly MemberRecord[];
  /** Resolves with true if this replica is the leader and a quorum confirmed it after the call. */
  confirmLeader(): Promise<boolean>;
  /** Assigns the next free id, records the member and adds it as a learner. @throws ClusterError */
  addLearner(member: Omit<MemberRecord, "id">): Promise<MemberRecord>;
  /** Makes a learner a voter. Rejects if it has not caught up. @throws ClusterError */
  promote(id: MemberNumber): Promise<void>;
  /** Removes a member. Rejects if the remaining healthy members would not form a quorum. @throws ClusterError */
  remove(id: MemberNumber): Promise<void>;
  /** Transfers leadership and resolves when the other member leads. @throws ClusterError */
  transferLeadership(to: MemberNumber): Promise<void>;
  /** Changes the addresses of a member. @throws ClusterError */
  updateMember(member: MemberRecord): Promise<void>;
  /**
   * Returns a consistent, checksummed image of the state at one revision, while writes continue. Dispose of it after
   * reading.
   */
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

/** The reason why a change was not made. With `unknown` the change may have been made. The message is for people. */
export class ClusterError extends Error {
  readonly code: ClusterErrorCode;
  /** The leader as far as this replica knows. */
  readonly leader: MemberNumber | undefined;
  constructor(code: ClusterErrorCode, message: string, leader?: MemberNumber) {
    super(message);
    this.name = "ClusterError";
    this.code = code;
    this.leader = leader;
  }
}

/** Returns the error for an operation on other members of a replica that has none. */
export function aloneError(): ClusterError {
  return new ClusterError("conflict", "this replica is alone: start it with --peer-address");
}
