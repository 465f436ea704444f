/**
 * Why something was not taken on. Nothing was appended, so trying again is safe.
 * - `noLeader`: no leader is known here, or the one that was asked is none (any more).
 * - `transferring`: the leader is handing over; ask again in an election timeout.
 * - `tooManyBytes`: too many bytes await commitment, or this proposal alone is larger than one may be.
 * - `tooManyReads`: too many reads await confirmation.
 * - `removed`: this leader is no voter any more, or not yet, and about to go.
 * - `changePending`: a membership change is not finished, or this leader has not committed an entry of its term yet.
 * - `notAMember`, `alreadyAMember`, `notALearner`, `notAVoter`: the change or transfer does not fit the membership.
 * - `noChange`: the change would leave the membership as it is.
 * - `behind`: a learner that is not caught up cannot be promoted, nor a member that lags be made leader.
 * - `quorumLost`: the change would leave the members that are heard from without a quorum.
 * - `logFull`: no index or term is left to count on.
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
