import type { MemberId } from "./ids.ts";

/**
 * The members and their roles. Each list is sorted and without duplicates.
 *
 *     simple   voters = C          outgoing = []
 *     joint    voters = C new      outgoing = C old     every decision needs a majority of both (thesis §4.3)
 *
 * Invariants: `voters` and `outgoing` contain no learner. `learnersNext` ⊆ `outgoing` are voters of the old half that
 * become learners at the end of the joint configuration; it is empty outside of one.
 */
export interface Membership {
  readonly voters: readonly MemberId[];
  readonly outgoing: readonly MemberId[];
  readonly learners: readonly MemberId[];
  readonly learnersNext: readonly MemberId[];
}

export const noMembership: Membership = { voters: [], outgoing: [], learners: [], learnersNext: [] };

export function isJoint(membership: Membership): boolean {
  return membership.outgoing.length > 0;
}

export function isVoter(membership: Membership, member: MemberId): boolean {
  return membership.voters.includes(member) || membership.outgoing.includes(member);
}

export function isLearner(membership: Membership, member: MemberId): boolean {
  return membership.learners.includes(member);
}

/** Returns all members in ascending order: voters of both halves and learners. */
export function membersOf({ voters, outgoing, learners }: Membership): MemberId[] {
  return sorted([...voters, ...outgoing, ...learners]);
}

/** Returns the voters of both halves in ascending order. */
export function votersOf({ voters, outgoing }: Membership): MemberId[] {
  return sorted([...voters, ...outgoing]);
}

/** Reports whether `member` decides alone. */
export function isOnlyVoter({ voters, outgoing }: Membership, member: MemberId): boolean {
  return voters.length === 1 && voters[0] === member && outgoing.length === 0;
}

/** Returns a simple membership. */
export function membershipOf(voters: readonly MemberId[], learners: readonly MemberId[] = []): Membership {
  return { ...noMembership, voters: sorted(voters), learners: sorted(learners) };
}

export function sorted(members: readonly MemberId[]): MemberId[] {
  return [...new Set(members)].sort((left, right) => left - right);
}
