import { expect, test } from "bun:test";
import { SeatDemand } from "./seat-demand.ts";

test("the average and the deviation weigh each value by its time", () => {
  const demand = new SeatDemand(0);
  demand.set(10, 0);
  demand.set(0, 2_500);
  const summary = demand.endPeriod(10_000);
  expect(summary.average).toBeCloseTo(2.5);
  expect(summary.deviation).toBeCloseTo(Math.sqrt(0.25 * 100 - 2.5 ** 2));
  expect(summary.highWatermark).toBe(10);
});

test("a period starts with the value that the last one ended with", () => {
  const demand = new SeatDemand(0);
  demand.set(7, 5_000);
  demand.endPeriod(10_000);
  expect(demand.endPeriod(20_000)).toEqual({ average: 7, deviation: 0, highWatermark: 7 });
});
