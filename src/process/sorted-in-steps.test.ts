import { expect, test } from "bun:test";
import { runToEnd } from "../api/testing.ts";
import { sortedInSteps } from "./sorted-in-steps.ts";

test.each([0, 1, 999, 1_000, 1_001, 2_500, 40_000])("%i items are sorted stably, in steps", (count) => {
  const items = Array.from({ length: count }, (_, at) => ({ at, rank: (at * 7_919) % 613 }));
  const byRank = (a: { rank: number }, b: { rank: number }) => a.rank - b.rank;
  const { result, yields } = runToEnd(sortedInSteps(items, byRank));
  expect(result).toEqual(items.toSorted(byRank));
  expect(yields).toBeGreaterThanOrEqual(Math.floor(count / 1_000));
});
