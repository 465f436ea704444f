import { describe, expect, test } from "bun:test";
import { normalizeMicroTime, normalizeTime } from "./time-text.ts";

describe("whole-second times", () => {
  const cases: readonly [input: string, output: string | undefined][] = [
    ["2024-01-02T03:04:05Z", "2024-01-02T03:04:05Z"],
    ["2024-01-02T03:04:05.9Z", "2024-01-02T03:04:05Z"],
    ["2024-01-02T00:30:00+01:00", "2024-01-01T23:30:00Z"],
    ["2024-12-31T23:30:00-01:00", "2025-01-01T00:30:00Z"],
    ["2024-02-29T00:00:00Z", "2024-02-29T00:00:00Z"],
    ["0050-02-03T00:00:00Z", "0050-02-03T00:00:00Z"],
    ["0001-01-01T00:00:00Z", undefined],
  ];
  for (const [input, output] of cases) {
    test(`${input} is ${output ?? "not set"}`, () => {
      expect(normalizeTime(input)).toBe(output as string);
    });
  }
  for (const input of [
    "",
    "2024-01-02",
    "2024-01-02 03:04:05Z",
    "2024-01-02T03:04:05",
    "2024-01-02T03:04:05.Z",
    "2024-13-02T03:04:05Z",
    "2023-02-29T03:04:05Z",
    "2024-01-02T24:00:00Z",
    "2024-01-02T03:04:60Z",
    "2024-01-02T03:04:05Zx",
    "2024-01-02T03:04:05+0100",
    "0000-01-01T00:00:00+01:00",
  ]) {
    test(`${JSON.stringify(input)} is refused`, () => {
      expect(() => normalizeTime(input)).toThrow("parsing time");
    });
  }
});

describe("microsecond times", () => {
  test("keep exactly six digits", () => {
    expect(normalizeMicroTime("2024-01-02T03:04:05.000001Z")).toBe("2024-01-02T03:04:05.000001Z");
    expect(normalizeMicroTime("0001-01-01T00:00:00.000000Z")).toBeUndefined();
  });
  test("refuse another number of digits", () => {
    expect(() => normalizeMicroTime("2024-01-02T03:04:05Z")).toThrow("parsing time");
    expect(() => normalizeMicroTime("2024-01-02T03:04:05.000Z")).toThrow("parsing time");
  });
});
