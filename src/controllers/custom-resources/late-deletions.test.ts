import { expect, test } from "bun:test";
import { deletionMsMax, LateDeletions } from "./late-deletions.ts";

const [apples, pears] = ["/registry/crds/apples", "/registry/crds/pears"];

test("a deletion is late once in each minute, counted from its first look", () => {
  let nowMs = 1_000;
  const late = new LateDeletions({ steadyMs: () => nowMs });
  expect(late.isLate(apples)).toBe(false);
  nowMs += deletionMsMax - 1;
  expect([late.isLate(apples), late.isLate(pears)]).toEqual([false, false]);
  nowMs += 1;
  expect([late.isLate(apples), late.isLate(apples), late.isLate(pears)]).toEqual([true, false, false]);
  nowMs += deletionMsMax - 1;
  expect([late.isLate(apples), late.isLate(pears)]).toEqual([false, true]);
  nowMs += 1;
  expect(late.isLate(apples)).toBe(true);
});

test("a definition that has gone is forgotten", () => {
  let nowMs = 0;
  const late = new LateDeletions({ steadyMs: () => nowMs });
  late.isLate(apples);
  late.forget(apples);
  nowMs = deletionMsMax;
  expect(late.isLate(apples)).toBe(false);
});
