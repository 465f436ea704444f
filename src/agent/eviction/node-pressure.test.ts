import { expect, test } from "bun:test";
import { parseEvictionAmounts, parseEvictionThresholds } from "../node/eviction-thresholds.ts";
import type { MachineUsage } from "../node/machine.ts";
import { evictionLimits } from "./eviction-limits.ts";
import { NodePressure } from "./node-pressure.ts";

const gibibyte = 2 ** 30;
const memory = (available: number): MachineUsage => ({
  "memory.available": { available: available * gibibyte, capacity: 8 * gibibyte },
});

function pressureOf(parts: { hard?: string; soft?: string; graceMs?: number; reclaim?: string }): NodePressure {
  const limits = evictionLimits({
    hard: parseEvictionThresholds(parts.hard ?? ""),
    soft: parseEvictionThresholds(parts.soft ?? ""),
    graceMs: new Map([["memory.available", parts.graceMs ?? 0]]),
    reclaim: parseEvictionAmounts(parts.reclaim ?? ""),
  });
  return new NodePressure({ limits, transitionMs: 300_000, podGraceSecondsMax: 0 });
}

test("a supply is short below its hard limit, and not at it", () => {
  const pressure = pressureOf({ hard: "memory.available<1Gi,nodefs.available<10%,pid.available<100" });
  expect(pressure.observe(memory(1), 0)).toEqual([]);
  const found = pressure.observe({ ...memory(0.5), "nodefs.available": { available: 10, capacity: 100 } }, 1);
  expect(found.map(({ limit, available }) => [limit.signal, available])).toEqual([["memory.available", gibibyte / 2]]);
});

test("a pressure lasts until there was no shortage for a while", () => {
  const pressure = pressureOf({ hard: "memory.available<1Gi" });
  pressure.observe(memory(0), 0);
  expect([...pressure.pressures]).toEqual(["MemoryPressure"]);
  expect(pressure.observe(memory(2), 1)).toEqual([]);
  pressure.observe(memory(2), 299_999);
  expect(pressure.pressures.size).toBe(1);
  pressure.observe(memory(2), 300_000);
  expect(pressure.pressures.size).toBe(0);
});

test("a soft limit sets the condition at once, and counts after its grace period", () => {
  const pressure = pressureOf({ soft: "memory.available<2Gi", graceMs: 60_000 });
  expect(pressure.observe(memory(1), 0)).toEqual([]);
  expect(pressure.pressures.size).toBe(1);
  expect(pressure.observe(memory(1), 59_999)).toEqual([]);
  expect(pressure.observe(memory(1), 60_000)).toHaveLength(1);
  expect(pressure.observe(memory(2), 70_000)).toEqual([]);
  expect(pressure.observe(memory(1), 80_000)).toEqual([]);
});

test("evictions go on until the minimum is reclaimed", () => {
  const pressure = pressureOf({ hard: "memory.available<1Gi", reclaim: "memory.available=1Gi" });
  expect(pressure.observe(memory(1.5), 0)).toEqual([]);
  expect(pressure.observe(memory(0.5), 1)).toHaveLength(1);
  expect(pressure.observe(memory(1.5), 2)).toHaveLength(1);
  expect(pressure.observe(memory(2), 3)).toEqual([]);
  expect(pressure.observe(memory(1.5), 4)).toEqual([]);
});

test("a soft limit needs a grace period", () => {
  const parts = { hard: new Map(), soft: parseEvictionThresholds("memory.available<1Gi") };
  expect(() => evictionLimits(parts)).toThrow(
    "grace period must be specified for the soft eviction threshold memory.available",
  );
});
