import { describe, expect, test } from "bun:test";
import { normalizeDuration } from "./go-duration.ts";

describe("durations", () => {
  const cases: readonly [input: string, output: string][] = [
    ["0", "0s"],
    ["90m", "1h30m0s"],
    ["1.5s", "1.5s"],
    ["1500ms", "1.5s"],
    ["200ms", "200ms"],
    ["5us", "5µs"],
    ["7ns", "7ns"],
    ["-1h", "-1h0m0s"],
    ["1h1s", "1h0m1s"],
    ["1.05s", "1.05s"],
  ];
  for (const [input, output] of cases)
    test(`${input} is ${output}`, () => expect(normalizeDuration(input)).toBe(output));
  for (const input of ["", "-", "5", "5x", "h", "1h-1s", "999999999999h"]) {
    test(`${JSON.stringify(input)} is refused`, () => expect(() => normalizeDuration(input)).toThrow("time: "));
  }
});
