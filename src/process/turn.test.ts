import { expect, test } from "bun:test";
import { nextTurn } from "./turn.ts";

test("one piece of work goes on in each turn, in the order of their coming", async () => {
  const turns: number[] = [];
  let turn = 0;
  let counting = true;
  const count = (): void => {
    turn++;
    if (counting) setImmediate(count);
  };
  setImmediate(count);
  await Promise.all(
    Array.from({ length: 5 }, async () => {
      await nextTurn();
      turns.push(turn);
    }),
  );
  counting = false;
  expect(turns).toHaveLength(5);
  expect(new Set(turns).size).toBe(5);
  expect(turns).toEqual(turns.toSorted((a, b) => a - b));
});

test("timers run between pieces of work", async () => {
  let ran = false;
  setTimeout(() => {
    ran = true;
  }, 0);
  const started = performance.now();
  while (!ran && performance.now() - started < 5_000) await nextTurn();
  expect(ran).toBe(true);
});
