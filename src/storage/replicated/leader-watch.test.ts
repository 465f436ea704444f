import { expect, test } from "bun:test";
import { membershipOf, toMemberId } from "../../../raft/index.ts";
import { systemClock } from "../../process/clock.ts";
import { LeaderWatch } from "./leader-watch.ts";

const ids = (...numbers: number[]) => numbers.map(toMemberId);

test.each([
  ["without others", ids(1), ids(), true],
  ["with a learner", ids(1), ids(2), false],
  ["with another voter", ids(1, 2), ids(), false],
])("a replica %s knows whether it is the only member", (_, voters, learners, isAlone) => {
  const watch = new LeaderWatch(toMemberId(1), systemClock, () => undefined);
  expect(watch.isAlone).toBe(false);
  watch.membership(membershipOf(voters, learners));
  expect(watch.isAlone).toBe(isAlone);
});
