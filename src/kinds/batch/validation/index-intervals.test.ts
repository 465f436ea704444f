import { expect, test } from "bun:test";
import { checkIndexes, commonIndex } from "./index-intervals.ts";

test.each([
  ["", 0],
  ["0", 1],
  ["0,2-4,9", 5],
  ["0-9", 10],
])("%p are indexes below ten: %d of them", (text, count) => {
  expect(checkIndexes(text, 10)).toEqual({ kind: "valid", count });
});

test.each([
  ["10", 'too large index: "10"'],
  ["0-10", 'too large index: "10"'],
  ["a", 'cannot convert string to integer for index: "a"'],
  ["1,", 'cannot convert string to integer for index: ""'],
  [
    "1-2-3",
    `the fragment "1-2-3" violates the requirement that an index interval can have at most two parts separated by '-'`,
  ],
  ["3-1", "non-increasing order, previous: 3, current: 1"],
  ["1,1", "non-increasing order, previous: 1, current: 1"],
  ["2,1", "non-increasing order, previous: 2, current: 1"],
])("%p are none: %p", (text, problem) => {
  expect(checkIndexes(text, 10)).toEqual({ kind: "invalid", problem });
});

test.each<[a: string, b: string, common: number | undefined]>([
  ["", "1", undefined],
  ["0-2,5", "3-4,6", undefined],
  ["0-2,5", "1", 1],
  ["0,5-9", "1-4,6-7", 6],
  ["x,4", "4", 4],
])("%p and %p have %p in common", (a, b, common) => {
  expect(commonIndex(a, b, 10)).toBe(common);
});
