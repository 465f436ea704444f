import type { MemberId } from "./ids.ts";
import type { Membership } from "./membership.ts";
import { isLearner, membershipOf, sorted } from "./membership.ts";
import type { Refusal } from "./refusal.ts";

/**
 * A new member joins as a learner, catches up, and is then promoted (thesis §4.2.1). No member becomes a voter
 * directly.
 * - `demote`: a voter becomes a learner.
 * - `remove`: a voter or learner leaves permanently.
 */
export type ConfOperation = "addLearner" | "promote" | "demote" | "remove";

export interface ConfStep {
  readonly operation: ConfOperation;
  readonly member: MemberId;
}

/** Steps that take effect together. If they affect more than one voter, the change uses a joint configuration (§4.3). */
export interface ConfChange {
  readonly steps: readonly ConfStep[];
  /** Data in the entry for the application, such as the address of a new member. */
  readonly context: Uint8Array;
}

export type Changed =
  | { readonly kind: "membership"; readonly membership: Membership }
  | { readonly kind: "refused"; readonly reason: Refusal };

/**
 * Returns the next membership after a `membership` that is not joint: the goal itself, or a joint membership that leads
 * to it.
 */
export function changeMembership(membership: Membership, steps: readonly ConfStep[]): Changed {
  const voters = new Set(membership.voters);
  const learners = new Set(membership.learners);
  if (new Set(steps.map(({ member }) => member)).size !== steps.length) return refused("noChange");
  for (const step of steps) {
    const refusal = misfit(step, voters, learners);
    if (refusal !== undefined) return refused(refusal);
    take(step, voters, learners);
  }
  if (steps.length === 0) return refused("noChange");
  return { kind: "membership", membership: towards(membership, membershipOf([...voters], [...learners])) };
}

/** Returns the membership after the second step of a joint change, which keeps only the new half. */
export function leaveJoint({ voters, learners, learnersNext }: Membership): Membership {
  return membershipOf(voters, [...learners, ...learnersNext]);
}

function misfit({ operation, member }: ConfStep, voters: Set<MemberId>, learners: Set<MemberId>): Refusal | undefined {
  switch (operation) {
    case "addLearner":
      return voters.has(member) || learners.has(member) ? "alreadyAMember" : undefined;
    case "promote":
      return learners.has(member) ? undefined : "notALearner";
    case "demote":
      return voters.has(member) ? undefined : "notAVoter";
    case "remove":
      return voters.has(member) || learners.has(member) ? undefined : "notAMember";
  }
}

function take({ operation, member }: ConfStep, voters: Set<MemberId>, learners: Set<MemberId>): void {
  voters.delete(member);
  learners.delete(member);
  if (operation === "promote") voters.add(member);
  if (operation === "addLearner" || operation === "demote") learners.add(member);
}

/**
 * Returns the first step to the goal. Majorities of two configurations that differ by one voter always meet; other
 * changes need a joint configuration.
 */
function towards(from: Membership, goal: Membership): Membership {
  const joined = goal.voters.filter((member) => !from.voters.includes(member));
  const left = from.voters.filter((member) => !goal.voters.includes(member));
  if (joined.length + left.length <= 1) return goal;
  return {
    voters: goal.voters,
    outgoing: from.voters,
    learners: goal.learners.filter((member) => !left.includes(member)),
    learnersNext: sorted(goal.learners.filter((member) => left.includes(member))),
  };
}

/** Returns the learners of `from` that are voters in `to`. */
export function promotedBy(from: Membership, to: Membership): MemberId[] {
  return to.voters.filter((member) => isLearner(from, member));
}

function refused(reason: Refusal): Changed {
  return { kind: "refused", reason };
}
