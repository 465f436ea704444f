/**
 * The reason for a rejection. Nothing was appended, so a retry is safe.
 * - `noLeader`: no leader is known here, or this member does not lead (any more).
 * - `transferring`: the leader is transferring leadership; retry after an election timeout.
 * - `tooManyBytes`: too many bytes are uncommitted, or this proposal alone is too large.
 * - `tooManyReads`: too many reads await confirmation.
 * - `removed`: this leader is not a voter (any more, or yet) and is about to resign.
 * - `changePending`: a membership change is not finished, or this leader has not committed an entry of its term yet.
 * - `notAMember`, `alreadyAMember`, `notALearner`, `notAVoter`: the change or transfer does not fit the membership.
 * - `noChange`: the change would leave the membership as it is.
 * - `behind`: a learner that has not caught up cannot be promoted, and a lagging member cannot be made leader.
 * - `quorumLost`: after the change, the active members would not form a quorum.
 * - `logFull`: all indexes or terms are used up.
 */
export type Refusal =
  | "noLeader"
  | "transferring"
  | "tooManyBytes"
  | "tooManyReads"
  | "removed"
  | "changePending"
  | "notAMember"
  | "alreadyAMember"
  | "notALearner"
  | "notAVoter"
  | "noChange"
  | "behind"
  | "quorumLost"
  | "logFull";
