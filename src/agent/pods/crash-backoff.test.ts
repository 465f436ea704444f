import { expect, test } from "bun:test";
import { CrashBackoff } from "./crash-backoff.ts";

test("the delay begins with 10 s and doubles up to 5 minutes", () => {
  const backoff = new CrashBackoff();
  expect(backoff.delayMs("web", 0)).toBe(0);
  const delays = Array.from({ length: 7 }, () => {
    backoff.next("web", 0, 0);
    return backoff.delayMs("web", 0) / 1_000;
  });
  expect(delays).toEqual([10, 20, 40, 80, 160, 300, 300]);
  expect(backoff.delayMs("other", 0)).toBe(0);
});

test("ten minutes without a failure make the next one the first", () => {
  const backoff = new CrashBackoff();
  backoff.next("web", 0, 0);
  backoff.next("web", 0, 0);
  expect(backoff.delayMs("web", 600_000)).toBe(20_000);
  expect(backoff.delayMs("web", 600_001)).toBe(0);
  backoff.next("web", 600_001, 600_001);
  expect(backoff.delayMs("web", 600_001)).toBe(10_000);
});
