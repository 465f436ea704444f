import { expect, test } from "bun:test";
import { dayOf, isDay } from "./utc-day.ts";

test("a day begins and ends at midnight in UTC", () => {
  expect([dayOf(0), dayOf(86_399_999), dayOf(86_400_000)]).toEqual(["1970-01-01", "1970-01-01", "1970-01-02"]);
});

test.each([
  ["2024-02-29", true],
  ["2023-02-29", false],
  ["2023-13-01", false],
  ["2023-1-1", false],
  ["2023-01-01T00:00:00Z", false],
  ["", false],
] as const)("isDay(%j) is %p", (text, expected) => expect(isDay(text)).toBe(expected));
