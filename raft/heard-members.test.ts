import { expect, test } from "bun:test";
import { toIndex, toMemberId } from "./core/ids.ts";
import { membershipOf } from "./core/membership.ts";
import { heardMembers } from "./heard-members.ts";

const ids = (...members: number[]) => members.map(toMemberId);
const at = (index: number, ...members: number[]) => ({
  index: toIndex(index),
  membership: membershipOf(ids(...members)),
});

test.each([
  ["all members of the membership in force", [at(0, 1, 2, 3)], 3, [1, 2, 3]],
  ["who is being added", [at(0, 1, 2), at(5, 1, 2, 3)], 3, [1, 2, 3]],
  ["who is being removed, until that is committed", [at(0, 1, 2, 3), at(5, 1, 2)], 3, [1, 2, 3]],
  ["not who was removed", [at(0, 1, 2, 3), at(5, 1, 2)], 5, [1, 2]],
  ["the seeds while there is no log", [], 0, [7, 8]],
  ["the seeds too while the log does not name this member yet", [at(0, 2, 3)], 3, [2, 3, 7, 8]],
])("heard are %s", (_, memberships, commit, heard) => {
  expect(heardMembers({ commit: toIndex(commit), memberships }, toMemberId(1), ids(7, 8))).toEqual(ids(...heard));
});
