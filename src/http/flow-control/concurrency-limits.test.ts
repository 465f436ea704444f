import { describe, expect, test } from "bun:test";
import type { PriorityLevelConfiguration } from "../../api/types/flowcontrol-v1.ts";
import { priorityLevels } from "../../kinds/flowcontrol/flow-control-objects.ts";
import { allocateSeats, type Demand, initialSeats, seatBounds } from "./concurrency-limits.ts";
import { shareOf } from "./priority-level.ts";

const names = priorityLevels.map(({ object }) => object.metadata.name);
const bounds = seatBounds(
  priorityLevels.map(({ object }) => shareOf(object as unknown as PriorityLevelConfiguration)),
  600,
);

function byName<T>(values: readonly T[]): Record<string, T> {
  return Object.fromEntries(values.map((value, at) => [names[at], value]));
}

function demandOf(seats: number): Demand {
  return { average: seats, deviation: 0, highWatermark: seats, smoothed: seats };
}

/** Returns the seats of each level, given the demand of the named levels. */
function allocated(wanted: Record<string, number>): Record<string, number> {
  const levels = bounds.map((each, at) => ({ ...each, demand: demandOf(wanted[names[at] ?? ""] ?? 0) }));
  return byName(allocateSeats(levels).allocations.map(({ current }) => current));
}

describe("seatBounds()", () => {
  test("divides 600 seats among the default levels as upstream does", () => {
    expect(byName(bounds.map(({ nominal }) => nominal))).toEqual({
      exempt: 0,
      "catch-all": 13,
      system: 74,
      "node-high": 98,
      "leader-election": 25,
      "workload-high": 98,
      "workload-low": 245,
      "global-default": 49,
    });
    expect(byName(bounds.map(({ min }) => min))).toMatchObject({
      system: 50,
      "workload-low": 24,
      "leader-election": 25,
    });
  });

  test("limits what a level may borrow", () => {
    const [level] = seatBounds([{ exempt: false, shares: 1, lendablePercent: 0, borrowingLimitPercent: 50 }], 100);
    expect(level?.max).toBe(150);
  });

  test("half of the lendable seats are lent at first", () => {
    expect(initialSeats({ exempt: false, nominal: 245, min: 24, max: 845 })).toBe(135);
  });
});

describe("allocateSeats()", () => {
  test("a busy level borrows from idle ones, and they keep what they may not lend", () => {
    const seats = allocated({ "workload-low": 1_000 });
    expect(seats["workload-low"]).toBeGreaterThan(245);
    expect(seats["leader-election"]).toBe(25);
    expect(seats["system"]).toBe(50);
    expect(Object.values(seats).reduce((sum, value) => sum + value, 0)).toBeCloseTo(602, -1);
  });

  test("every level that is busy has at least its nominal seats", () => {
    const seats = allocated(Object.fromEntries(names.map((name) => [name, 1_000])));
    for (const [at, { nominal, exempt }] of bounds.entries()) {
      if (!exempt) expect(seats[names[at] ?? ""]).toBeLessThanOrEqual(nominal);
    }
  });

  test("the exempt level takes what it uses before all others", () => {
    const seats = allocated({ exempt: 300, "workload-low": 1_000 });
    expect(seats["exempt"]).toBe(300);
    expect(seats["workload-low"]).toBeLessThan(245);
  });

  test("levels without any demand share all seats", () => {
    const seats = allocated({});
    expect(Object.values(seats).reduce((sum, value) => sum + value, 0)).toBeGreaterThan(590);
  });
});
