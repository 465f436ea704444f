import { expect, test } from "bun:test";
import { newEnvironment, ProgramCache, storedEnvironment } from "./index.ts";

test("a program is compiled once for each environment", () => {
  const cache = new ProgramCache();
  const first = cache.get("1 + 1", storedEnvironment());
  expect(cache.get("1 + 1", storedEnvironment())).toBe(first);
  expect(cache.get("1 + 1", newEnvironment(30))).not.toBe(first);
});

test("a failure is kept too", () => {
  const cache = new ProgramCache();
  const failed = cache.get("1 +", storedEnvironment());
  expect(failed.kind).toBe("failed");
  expect(cache.get("1 +", storedEnvironment())).toBe(failed);
});

test("programs that nobody asks for are dropped", () => {
  const cache = new ProgramCache(4);
  const first = cache.get("1", storedEnvironment());
  for (let number = 2; number < 12; number++) cache.get(String(number), storedEnvironment());
  expect(cache.get("1", storedEnvironment())).not.toBe(first);
});
