import { expect, test } from "bun:test";
import { membershipOf, toMemberId } from "../../../raft/index.ts";
import { ManualClock } from "../cacher/testing.ts";
import { LeaderWatch } from "./leader-watch.ts";
import type { Decision } from "./log-entry.ts";
import { verifyStates } from "./state-verifier.ts";

function verifier({ leads = true, others = true }) {
  const clock = new ManualClock();
  const self = toMemberId(1);
  const leader = new LeaderWatch(self, clock, () => undefined);
  leader.softState({ role: leads ? "leader" : "follower", term: 1 as never, leader: leads ? self : toMemberId(2) });
  leader.membership(membershipOf(others ? [self, toMemberId(2)] : [self]));
  const decisions: Decision[] = [];
  const proposer = { decide: async (decision: Decision) => void decisions.push(decision) };
  const objects = { revision: 1, hash: 7n };
  verifyStates({ clock, leader, state: { index: 9, objects }, proposer } as never);
  /** Changes objects and lets the interval pass. */
  const change = () => {
    objects.revision++;
    clock.advance(5_000);
  };
  return { decisions, change, clock };
}

test("a leader sends its state's hash to the others when the state has changed", () => {
  const { decisions, change, clock } = verifier({});
  clock.advance(5_000);
  expect(decisions).toEqual([]);
  change();
  clock.advance(5_000);
  expect(decisions).toMatchObject([{ kind: "verify", index: 9, revision: 2 }]);
});

test.each([{ leads: false }, { others: false }])("sends nothing with %p", (who) => {
  const { decisions, change } = verifier(who);
  change();
  expect(decisions).toEqual([]);
});
