import { expect, test } from "bun:test";
import { humanDuration } from "./human-duration.ts";
import { RowTime } from "./row-time.ts";

const nowMs = Date.parse("2026-01-01T01:00:00Z");

test("ageOf() does not guess an age without a timestamp", () => {
  const time = new RowTime(nowMs);
  expect([undefined, null, "soon"].map((text) => time.ageOf(text))).toEqual(Array(3).fill("<unknown>"));
  expect(time.staleAtMs).toBe(Number.POSITIVE_INFINITY);
});

test("a row is stale when its youngest age changes", () => {
  const time = new RowTime(nowMs);
  expect([time.ageOf("2026-01-01T00:29:30Z"), time.since(nowMs - 119_400)]).toEqual(["30m", "119s"]);
  expect(time.staleAtMs).toBe(nowMs + 600);
});

const [second, minute, hour, day, year] = [1_000, 60_000, 3_600_000, 86_400_000, 365 * 86_400_000];

test.each([
  [0, 2 * minute, second],
  [2 * minute, 10 * minute, second],
  [10 * minute, 3 * hour, minute],
  [3 * hour, 8 * hour, minute],
  [8 * hour, 2 * day, hour],
  [2 * day, 8 * day, hour],
  [8 * day, 2 * year, day],
  [2 * year, 8 * year, day],
  [8 * year, 20 * year, year],
] as const)("an age from %d to %d ms stays the same until it changes", (from, to, unit) => {
  const ages = Array.from({ length: 50 }, (_, at) => from + Math.floor((at * (to - from)) / 50) + ((at * 7919) % unit));
  for (const passedMs of ages) {
    const time = new RowTime(nowMs);
    const text = time.since(nowMs - passedMs);
    const steady = time.staleAtMs - nowMs;
    expect(steady).toBeGreaterThan(0);
    expect(humanDuration(passedMs + steady - 1)).toBe(text);
    expect(humanDuration(passedMs + steady)).not.toBe(text);
  }
});

test("a time in the future is never kept", () => {
  const time = new RowTime(nowMs);
  expect(time.since(nowMs + minute)).toBe("<invalid>");
  expect(time.staleAtMs).toBe(nowMs);
});
