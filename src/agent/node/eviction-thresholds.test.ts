import { expect, test } from "bun:test";
import { evictionHardDefault, parseEvictionAmounts, parseEvictionThresholds } from "./eviction-thresholds.ts";

const gibibyte = 2 ** 30;

test("upstream's defaults limit memory, disk space and inodes", () => {
  const thresholds = parseEvictionThresholds(evictionHardDefault);
  expect(thresholds.size).toBe(5);
  expect(thresholds.get("memory.available")).toEqual({ kind: "amount", amount: 100 * 2 ** 20 });
  expect(thresholds.get("imagefs.available")).toEqual({ kind: "fraction", fraction: 0.15 });
  expect(parseEvictionThresholds("").size).toBe(0);
});

test.each([
  "memory.available",
  "memory<1",
  "memory.available<",
  "memory.available<x",
  "nodefs.available<101%",
  "a<b<c",
])("%s is refused as a threshold", (text) => expect(() => parseEvictionThresholds(text)).toThrow(/is not/));

test("no threshold of 0 % or 100 % counts, as upstream has it", () => {
  expect(parseEvictionThresholds("nodefs.available<0%,imagefs.available<100%").size).toBe(0);
  expect([...parseEvictionAmounts("nodefs.available=0%, memory.available=1Gi")]).toEqual([
    ["nodefs.available", { kind: "fraction", fraction: 0 }],
    ["memory.available", { kind: "amount", amount: gibibyte }],
  ]);
});
