import type { MemberId } from "./ids.ts";
import type { Membership } from "./membership.ts";

export type Tally = "won" | "lost" | "open";

/**
 * Returns the largest value that a majority has reached; in a joint membership, a majority of both halves (thesis
 * §4.3). Learners do not count. An empty membership decides nothing: 0.
 */
export function quorumValue(membership: Membership, valueOf: (member: MemberId) => number): number {
  const incoming = majorityValue(membership.voters, valueOf);
  if (membership.outgoing.length === 0) return incoming;
  return Math.min(incoming, majorityValue(membership.outgoing, valueOf));
}

/** Reports whether a quorum voted yes, or whether so many voted no that a quorum is impossible. */
export function tally(membership: Membership, voteOf: (member: MemberId) => boolean | undefined): Tally {
  const yes = quorumValue(membership, (member) => (voteOf(member) === true ? 1 : 0));
  if (yes === 1) return "won";
  const possible = quorumValue(membership, (member) => (voteOf(member) === false ? 0 : 1));
  return possible === 1 ? "open" : "lost";
}

function majorityValue(voters: readonly MemberId[], valueOf: (member: MemberId) => number): number {
  const [first] = voters;
  if (first === undefined) return 0;
  if (voters.length === 1) return valueOf(first);
  const values = voters.map(valueOf).sort((left, right) => right - left);
  return values[Math.floor(voters.length / 2)] ?? 0;
}
