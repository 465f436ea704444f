import { expect, test } from "bun:test";
import { RetryAfter } from "./retry-after.ts";

/** Refuses `count` requests in each of the seconds. Returns the advice after each second. */
function refuseEverySecond(retry: RetryAfter, from: number, counts: readonly number[]): number[] {
  return counts.map((count, at) => {
    for (let refusal = 0; refusal < count; refusal++) retry.refused((from + at) * 1000);
    return retry.seconds;
  });
}

test("a first refusal asks for one second", () => {
  expect(new RetryAfter().refused(5_000)).toBe(1);
});

test("many refusals double the time, up to 32 seconds", () => {
  const advice = refuseEverySecond(
    new RetryAfter(),
    1_000,
    Array.from({ length: 80 }, () => 200),
  );
  expect(advice.slice(0, 4)).toEqual([1, 2, 2, 4]);
  expect(advice.at(-1)).toBe(32);
  expect(Math.max(...advice)).toBe(32);
});

test("few refusals take the time back second by second", () => {
  const retry = new RetryAfter();
  refuseEverySecond(retry, 1_000, [50, 50, 50, 50]);
  expect(retry.seconds).toBe(4);
  const advice = [1_100, 1_110, 1_120, 1_130].map((second) => retry.refused(second * 1000));
  expect(advice).toEqual([3, 2, 1, 1]);
});
