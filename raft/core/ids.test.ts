import { expect, test } from "bun:test";
import { toIndex, toMemberId, toRequestId, toTerm } from "./ids.ts";

test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])(
  "%p is not a valid position, term, member or request",
  (value) => {
    for (const read of [toIndex, toTerm, toMemberId, toRequestId]) expect(() => read(value)).toThrow(RangeError);
  },
);

test("positions and terms begin at 0, members at 1", () => {
  expect([toIndex(0), toTerm(0), toRequestId(0)]).toEqual([0, 0, 0] as never);
  expect(() => toMemberId(0)).toThrow(RangeError);
  expect(toIndex(Number.MAX_SAFE_INTEGER)).toBe(Number.MAX_SAFE_INTEGER as never);
});
