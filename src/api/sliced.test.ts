import { expect, test } from "bun:test";
import { runSliced } from "./sliced.ts";

function* counting(steps: number, work: () => void): Generator<void, number> {
  for (let count = 0; count < steps; count++) {
    work();
    yield;
  }
  return steps;
}

test("runSliced() answers at once when the computation is short", () => {
  expect(runSliced(counting(3, () => {}))).toBe(3);
});

test("runSliced() gives others a turn when the computation is long", async () => {
  const busy = () => {
    const endMs = performance.now() + 2;
    while (performance.now() < endMs);
  };
  let turns = 0;
  const result = runSliced(counting(20, busy));
  expect(result).toBeInstanceOf(Promise);
  setImmediate(() => turns++);
  expect(await result).toBe(20);
  expect(turns).toBe(1);
});
