import { expect, test } from "bun:test";
import type { MemberId } from "./ids.ts";
import { membershipOf } from "./membership.ts";
import { quorumValue, tally } from "./quorum.ts";

const ids = (...members: number[]) => members as MemberId[];

test.each([
  [[], 0],
  [[7], 7],
  [[7, 3], 3],
  [[7, 3, 5], 5],
  [[7, 3, 5, 1], 3],
  [[7, 3, 5, 1, 9], 5],
  [[2, 2, 2, 9, 9], 2],
] as const)("of %p, a majority has reached %d", (values, reached) => {
  const voters = ids(...values.map((_, at) => at + 1));
  expect(quorumValue(membershipOf(voters), (member) => values[member - 1] ?? 0)).toBe(reached);
});

test("a joint membership has reached the index that both halves have", () => {
  const joint = { ...membershipOf(ids(1, 2, 3)), outgoing: ids(3, 4, 5) };
  const values = [9, 8, 7, 2, 1];
  expect(quorumValue(joint, (member) => values[member - 1] ?? 0)).toBe(2);
});

test("learners do not count", () => {
  expect(quorumValue(membershipOf(ids(1, 2, 3), ids(4, 5)), (member) => (member > 2 ? 9 : 0))).toBe(0);
});

test.each([
  [[true, true], "won"],
  [[true, undefined], "open"],
  [[true, false], "open"],
  [[false, false], "lost"],
  [[undefined, undefined], "open"],
] as const)("votes %p of three voters, one of them silent, are %s", (votes, result) => {
  expect(tally(membershipOf(ids(1, 2, 3)), (member) => votes[member - 1])).toBe(result);
});

test("an empty membership decides nothing", () => {
  expect(tally(membershipOf([]), () => true)).toBe("lost");
});
