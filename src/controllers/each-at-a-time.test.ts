import { expect, test } from "bun:test";
import { nextTurn } from "../process/turn.ts";
import { eachAtATime } from "./each-at-a-time.ts";

async function* later(count: number): AsyncGenerator<number, void> {
  for (let at = 0; at < count; at++) {
    await nextTurn();
    yield at;
  }
}

test.each([
  ["a list", [0, 1, 2, 3, 4]],
  ["an iterator that waits", later(5)],
])("every item of %s is worked on once, two at a time", async (_, items) => {
  const done: number[] = [];
  let [running, most] = [0, 0];
  await eachAtATime(items, 2, async (item) => {
    most = Math.max(most, ++running);
    await nextTurn();
    await nextTurn();
    running--;
    done.push(item);
  });
  expect(done.sort()).toEqual([0, 1, 2, 3, 4]);
  expect(most).toBe(2);
});

test("after a failure no more items are begun", async () => {
  const begun: number[] = [];
  const work = async (item: number) => {
    begun.push(item);
    await nextTurn();
    if (item === 1) throw new Error("no");
  };
  await expect(eachAtATime([0, 1, 2, 3, 4, 5, 6, 7], 2, work)).rejects.toThrow("no");
  await nextTurn();
  await nextTurn();
  expect(begun.length).toBeLessThan(5);
});
