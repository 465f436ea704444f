import { expect, test } from "bun:test";
import { membershipOf, toMemberId } from "../../../raft/index.ts";
import { systemClock } from "../../api/clock.ts";
import { LeaderWatch } from "./leader-watch.ts";

const ids = (...numbers: number[]) => numbers.map(toMemberId);

test.each([
  ["alone", ids(1), ids(), true],
  ["with a learner, which may have applied more of what is committed", ids(1), ids(2), false],
  ["with another voter", ids(1, 2), ids(), false],
])("a leader %s is sole once it has confirmed a read: %p, %p, %p", async (_, voters, learners, isSole) => {
  const [self] = ids(1) as [ReturnType<typeof toMemberId>];
  const watch = new LeaderWatch(self, systemClock, () => undefined);
  watch.softState({ role: "leader", term: 1 as never, leader: self });
  watch.membership(membershipOf(voters, learners));
  expect(watch.isSole).toBe(false);
  await watch.confirm(async () => undefined);
  expect(watch.isSole).toBe(isSole);
});
