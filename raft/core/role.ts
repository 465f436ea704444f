import type { Index, MemberId } from "./ids.ts";
import type { Peer } from "./progress.ts";
import type { ReadQueue } from "./read-queue.ts";

/** A member that follows a leader or waits for one. */
export interface Follower {
  readonly role: "follower";
  /** Known leader, or `noMember`. */
  leader: MemberId;
  /** Ticks since a message from the leader arrived or a vote was given. */
  elapsedTicks: number;
  readonly timeoutTicks: number;
  /** Pre-votes denied to members with an older log, in this term and since the leader's last message. */
  olderAsked: number;
}

/** A member that asks whether it would win an election, without disturbing the others (thesis §9.6). */
export interface PreCandidate {
  readonly role: "preCandidate";
  readonly votes: Map<MemberId, boolean>;
  elapsedTicks: number;
  readonly timeoutTicks: number;
}

export interface Candidate {
  readonly role: "candidate";
  /** Votes received. Its own counts only once it is durable. */
  readonly votes: Map<MemberId, boolean>;
  elapsedTicks: number;
  readonly timeoutTicks: number;
}

export interface Leader {
  readonly role: "leader";
  /** All other members. */
  readonly peers: Map<MemberId, Peer>;
  /**
   * Index of the empty entry that began this term. Until it is committed, reads are not answered and the membership does
   * not change.
   */
  readonly firstIndex: Index;
  readonly reads: ReadQueue;
  uncommittedBytes: number;
  heartbeatElapsedTicks: number;
  transfer: Transfer | undefined;
}

export interface Transfer {
  readonly to: MemberId;
  elapsedTicks: number;
  sent: boolean;
}

export type RoleState = Follower | PreCandidate | Candidate | Leader;
