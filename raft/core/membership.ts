import type { MemberId } from "./ids.ts";

/**
 * Who takes part. Each list is sorted and free of repetition.
 *
 *     simple   voters = C          outgoing = []
 *     joint    voters = C new      outgoing = C old     every decision needs a majority of both (thesis §4.3)
 *
 * Invariants: no learner is in `voters` or `outgoing`; `learnersNext` ⊆ `outgoing` are voters of the old half that
 * become learners when the joint configuration is left, and is empty outside of one.
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

/** Everybody, ascending: voters of both halves and learners. */
export function membersOf({ voters, outgoing, learners }: Membership): MemberId[] {
  return sorted([...voters, ...outgoing, ...learners]);
}

/** Of both halves, ascending. */
export function votersOf({ voters, outgoing }: Membership): MemberId[] {
  return sorted([...voters, ...outgoing]);
}

/** Nobody else is asked for anything. */
export function isOnlyVoter({ voters, outgoing }: Membership, member: MemberId): boolean {
  return voters.length === 1 && voters[0] === member && outgoing.length === 0;
}

/** A first membership of voters only. */
export function membershipOf(voters: readonly MemberId[], learners: readonly MemberId[] = []): Membership {
  return { ...noMembership, voters: sorted(voters), learners: sorted(learners) };
}

export function sorted(members: readonly MemberId[]): MemberId[] {
  return [...new Set(members)].sort((left, right) => left - right);
}
