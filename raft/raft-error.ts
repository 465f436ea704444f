import type { MemberId } from "./core/ids.ts";
import type { Refusal } from "./core/refusal.ts";

/**
 * - a `Refusal`: nothing was appended, so a retry is safe.
 * - `dropped`: it will never happen: another leader's entry took its place, or it never left this member.
 * - `unknown`: it may happen or may have happened.
 * - `unconfirmed`: a read that could not be confirmed as fresh in time.
 * - `stopped`: the member was stopped; for a proposal it means the same as `unknown`.
 */
export type RaftErrorCode = Refusal | "dropped" | "unknown" | "unconfirmed" | "stopped";

/** The reason why a proposal, read or change did not succeed. */
export class RaftError extends Error {
  override readonly name = "RaftError";
  readonly code: RaftErrorCode;
  /** The leader as far as this member knows, or `noMember`. */
  readonly leader: MemberId;

  constructor(code: RaftErrorCode, leader: MemberId, cause?: unknown) {
    super(messages[code] ?? `refused: ${code}`, { cause });
    this.code = code;
    this.leader = leader;
  }
}

const messages: Partial<Record<RaftErrorCode, string>> = {
  noLeader: "no leader is known to this member",
  dropped: "the proposal was dropped and will not happen",
  unknown: "the outcome is unknown: it may or may not happen",
  unconfirmed: "no leader confirmed the read in time",
  stopped: "this member was stopped",
  behind: "it has not caught up: try again later",
  quorumLost: "the reachable members would not form a quorum",
  notAMember: "it is not a member",
  alreadyAMember: "it is already a member",
  notALearner: "it is not a learner: only learners are promoted",
  notAVoter: "it does not vote: promote it first",
  noChange: "it changes nothing",
  changePending: "another change of the members is in progress",
  transferring: "leadership is being transferred",
};
