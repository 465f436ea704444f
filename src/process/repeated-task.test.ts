import { expect, test } from "bun:test";
import { ManualClock, settle } from "../storage/cacher/testing.ts";
import { RepeatedTask } from "./repeated-task.ts";

test("runs again when the time that it returned has passed, and never after its end", async () => {
  const clock = new ManualClock();
  let runs = 0;
  const task = new RepeatedTask(clock, async () => ++runs * 10, 5);
  const pass = async (ms: number) => {
    clock.advance(ms);
    await settle();
    return runs;
  };
  expect([await pass(4), await pass(1), await pass(9), await pass(1), await pass(20)]).toEqual([0, 1, 1, 2, 3]);
  task.runNow();
  expect(await pass(0)).toBe(4);
  task[Symbol.dispose]();
  expect([await pass(1_000), clock.timers]).toEqual([4, 0]);
});

test("runs once more when it is asked during a run", async () => {
  const clock = new ManualClock();
  const ends: (() => void)[] = [];
  const run = () => new Promise<number>((resolve) => ends.push(() => resolve(1_000)));
  using task = new RepeatedTask(clock, run);
  clock.advance(0);
  task.runNow();
  task.runNow();
  ends[0]?.();
  await settle();
  clock.advance(0);
  expect(ends).toHaveLength(2);
  ends[1]?.();
  await settle();
  clock.advance(999);
  expect(ends).toHaveLength(2);
});
