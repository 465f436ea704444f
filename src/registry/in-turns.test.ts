import { expect, test } from "bun:test";
import { inTurns } from "./in-turns.ts";

test("the result is that of all steps", async () => {
  function* steps(): Generator<void, number> {
    let sum = 0;
    for (let at = 1; at <= 4; at++) {
      sum += at;
      yield;
    }
    return sum;
  }
  expect(await inTurns(steps())).toBe(10);
});

test("others get their turn while long work goes on", async () => {
  let isOver = false;
  let turns = 0;
  function* steps(): Generator<void, void> {
    for (let at = 0; at < 6; at++) {
      const endMs = performance.now() + 6;
      while (performance.now() < endMs);
      yield;
    }
    isOver = true;
  }
  const count = () => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await inTurns(steps());
  expect(turns).toBeGreaterThan(2);
});
