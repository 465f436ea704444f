import { expect, test } from "bun:test";
import { quorumsMeet } from "../testing/simulator/checker.ts";
import { SeededRandom } from "../testing/simulator/seeded-random.ts";
import type { ConfOperation, ConfStep } from "./conf-change.ts";
import { changeMembership, leaveJoint } from "./conf-change.ts";
import type { MemberId } from "./ids.ts";
import { membershipOf } from "./membership.ts";

const ids = (...members: number[]) => members as MemberId[];
const steps = (...list: readonly (readonly [ConfOperation, number])[]) =>
  list.map(([operation, member]) => ({ operation, member: member as MemberId }));
const three = membershipOf(ids(1, 2, 3), ids(4));

test.each([
  ["a learner comes", steps(["addLearner", 5]), membershipOf(ids(1, 2, 3), ids(4, 5))],
  ["a learner is promoted", steps(["promote", 4]), membershipOf(ids(1, 2, 3, 4))],
  ["a voter is demoted", steps(["demote", 1]), membershipOf(ids(2, 3), ids(1, 4))],
  ["a voter leaves", steps(["remove", 2]), membershipOf(ids(1, 3), ids(4))],
  ["learners come and go", steps(["addLearner", 5], ["remove", 4]), membershipOf(ids(1, 2, 3), ids(5))],
])("%s in one step", (_, change, membership) => {
  expect(changeMembership(three, change)).toEqual({ kind: "membership", membership });
});

test("two voters are exchanged through a joint membership", () => {
  const changed = changeMembership(three, steps(["promote", 4], ["demote", 1]));
  const joint = { voters: ids(2, 3, 4), outgoing: ids(1, 2, 3), learners: [], learnersNext: ids(1) };
  expect(changed).toEqual({ kind: "membership", membership: joint });
  expect(leaveJoint(joint)).toEqual(membershipOf(ids(2, 3, 4), ids(1)));
});

test.each([
  ["alreadyAMember", steps(["addLearner", 1])],
  ["alreadyAMember", steps(["addLearner", 4])],
  ["notALearner", steps(["promote", 1])],
  ["notALearner", steps(["promote", 9])],
  ["notAVoter", steps(["demote", 4])],
  ["notAMember", steps(["remove", 9])],
  ["noChange", steps()],
  ["noChange", steps(["addLearner", 5], ["promote", 5])],
] as const)("rejected as %s: %j", (reason, change) => {
  expect(changeMembership(three, change)).toEqual({ kind: "refused", reason });
});

test("the quorums of one membership and the next always meet", () => {
  const seed = Date.now() % 2 ** 32;
  const random = new SeededRandom(seed);
  for (let round = 0; round < 300; round++) {
    let membership = membershipOf(ids(1, 2, 3, 4, 5).slice(0, random.between(1, 5)), ids(6, 7));
    for (let change = 0; change < 5; change++) {
      const picked: ConfStep[] = random
        .shuffled(ids(1, 2, 3, 4, 5, 6, 7))
        .slice(0, random.between(1, 4))
        .map((member) => {
          return { operation: random.pick<ConfOperation>(["addLearner", "promote", "demote", "remove"]), member };
        });
      const changed = changeMembership(membership, picked);
      if (changed.kind === "refused" || changed.membership.voters.length === 0) continue;
      const after = leaveJoint(changed.membership);
      const meets = quorumsMeet(membership, changed.membership) && quorumsMeet(changed.membership, after);
      expect(meets, `seed ${seed}: ${JSON.stringify({ membership, picked })}`).toBe(true);
      membership = after;
    }
  }
});
