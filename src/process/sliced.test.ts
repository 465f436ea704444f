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
  // A busy machine may take the CPU away for a moment, but not each time.
  const results = Array.from({ length: 10 }, () => runSliced(counting(3, () => {})));
  expect(results).toContain(3);
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
