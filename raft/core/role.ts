import type { Index, MemberId } from "./ids.ts";
import type { Peer } from "./progress.ts";
import type { ReadQueue } from "./read-queue.ts";

/** Follows a leader, or waits for one. */
export interface Follower {
  readonly role: "follower";
  /** `noMember` while none is known. */
  leader: MemberId;
  /** Ticks since the leader was heard, or a vote was given. */
  elapsedTicks: number;
  readonly timeoutTicks: number;
  /** Pre-votes refused to members with an older log, in this term and since a leader was heard. */
  olderAsked: number;
}

/** Asks whether it would be elected, without disturbing anybody (thesis §9.6). */
export interface PreCandidate {
  readonly role: "preCandidate";
  readonly votes: Map<MemberId, boolean>;
  elapsedTicks: number;
  readonly timeoutTicks: number;
}

export interface Candidate {
  readonly role: "candidate";
  /** Its own is counted only once it is durable. */
  readonly votes: Map<MemberId, boolean>;
  elapsedTicks: number;
  readonly timeoutTicks: number;
}

export interface Leader {
  readonly role: "leader";
  /** Everybody in the membership but itself. */
  readonly peers: Map<MemberId, Peer>;
  /** Of the empty entry that began this term. Until it is committed, no read is answered and no membership changed. */
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
