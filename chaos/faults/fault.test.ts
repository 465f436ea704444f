import { expect, test } from "bun:test";
import { repeating } from "./fault.ts";

test("a failed step is the last one, and the end of the fault reports it after everything is undone", async () => {
  let [steps, undone] = [0, 0];
  const undo = repeating(
    async () => {
      await Bun.sleep(1);
      if (++steps === 3) throw new Error("no such process");
    },
    () => undone++,
  );
  while (steps < 3) await Bun.sleep(1);
  await Bun.sleep(20);
  expect([steps, undone]).toEqual([3, 0]);
  await expect(undo()).rejects.toThrow("no such process");
  expect([steps, undone]).toEqual([3, 1]);
});

test("the step is repeated until the end, and then undone", async () => {
  let [steps, undone] = [0, 0];
  const undo = repeating(
    async () => {
      steps++;
      await Bun.sleep(1);
    },
    () => undone++,
  );
  while (steps < 2) await Bun.sleep(1);
  await undo();
  const taken = steps;
  expect(taken).toBeGreaterThan(1);
  await Bun.sleep(20);
  expect([steps, undone]).toEqual([taken, 1]);
});
