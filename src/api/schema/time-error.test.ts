import { expect, test } from "bun:test";
import { timeErrorText } from "./time-error.ts";

const layout = "2006-01-02T15:04:05Z07:00";

test.each([
  ["yesterday", `as "${layout}": cannot parse "yesterday" as "2006"`],
  ["", `as "${layout}": cannot parse "" as "2006"`],
  ["2024/01/02", `as "${layout}": cannot parse "/01/02" as "-"`],
  ["2024-01-02", `as "${layout}": cannot parse "" as "T"`],
  ["2024-01-02 03:04:05Z", `as "${layout}": cannot parse " 03:04:05Z" as "T"`],
  ["2024-01-02T03:04:05", `as "${layout}": cannot parse "" as "Z07:00"`],
  ["2024-01-02T03:04:05.25 CET", `as "${layout}": cannot parse " CET" as "Z07:00"`],
])("the error for %p names the place that differs from the layout", (text, expected) => {
  expect(timeErrorText(text, "")).toBe(`parsing time "${text}" ${expected}`);
});

test.each([
  ["2024-13-02T03:04:05Z", "month out of range"],
  ["2024-01-02T24:04:05Z", "hour out of range"],
  ["2024-01-02T03:60:05Z", "minute out of range"],
  ["2024-01-02T03:04:61Z", "second out of range"],
  ["2024-02-30T03:04:05Z", "day out of range"],
  ["2024-01-02T03:04:05+25:00", "time zone offset hour out of range"],
  ["2024-01-02T03:04:05Zulu", 'extra text: "ulu"'],
])("%p is told what is out of bounds", (text, expected) => {
  expect(timeErrorText(text, "")).toBe(`parsing time "${text}": ${expected}`);
});

test("a time in microseconds needs six digits", () => {
  const text = "2024-01-02T03:04:05Z";
  expect(timeErrorText(text, ".000000")).toBe(
    `parsing time "${text}" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"`,
  );
});
