import { expect, test } from "bun:test";
import { queryInteger } from "./query-integer.ts";

const limit = (text: string) => queryInteger(new Map([["limit", [text]]]), "limit");

test.each([
  ["0", 0],
  ["-5", -5],
  ["+5", 5],
  ["007", 7],
  ["9007199254740993", 9007199254740993n],
  ["9223372036854775807", 9223372036854775807n],
  ["-9223372036854775808", -9223372036854775808n],
] as const)("%p is an integer", (text, value) => {
  expect(limit(text)).toBe(value as number);
});

test("an absent parameter has no value", () => {
  expect(queryInteger(new Map(), "limit")).toBeUndefined();
});

test.each([
  ["", "invalid syntax"],
  ["x", "invalid syntax"],
  ["1.5", "invalid syntax"],
  ["1e3", "invalid syntax"],
  ["0x10", "invalid syntax"],
  [" 1", "invalid syntax"],
  ["9223372036854775808", "value out of range"],
  ["-9223372036854775809", "value out of range"],
  ["1".repeat(5_000), "value out of range"],
])("%p is refused", (text, why) => {
  expect(() => limit(text)).toThrow(`strconv.ParseInt: parsing "${text}": ${why}`);
});
