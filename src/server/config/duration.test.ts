import { expect, test } from "bun:test";
import fc from "fast-check";
import { formatDurationMs, parseDurationMs } from "./duration.ts";

test.each([
  ["0", 0],
  ["5s", 5_000],
  ["1m30s", 90_000],
  ["1.5h", 5_400_000],
  ["250ms", 250],
  [".5s", 500],
  ["-2ms", -2],
  ["1us", 0.001],
  ["1h0m0s", 3_600_000],
])("parseDurationMs() reads %s as %d milliseconds", (text, ms) => expect(parseDurationMs(text)).toBeCloseTo(ms, 9));

test.each(["", "5", "s", "-", "5 s", "5s ", "1d", "5S", "--5s", "5s5", "9999999999h"])(
  "parseDurationMs() refuses %p",
  (text) => expect(parseDurationMs(text)).toBeUndefined(),
);

test.each([
  [0, "0s"],
  [90_000, "1m30s"],
  [3_600_000, "1h0m0s"],
  [20, "20ms"],
])("formatDurationMs() writes %d milliseconds as %s", (ms, text) => expect(formatDurationMs(ms)).toBe(text));

test("a duration survives writing and reading", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10 ** 10 }), (ms) => {
      expect(parseDurationMs(formatDurationMs(ms))).toBe(ms);
    }),
  );
});
