import { expect, test } from "bun:test";
import { ManualClock, settle } from "../../storage/cacher/testing.ts";
import { TaintQueue } from "./taint-queue.ts";

function open(taint: (node: string) => Promise<boolean> = async () => true) {
  const clock = new ManualClock();
  const tainted: string[] = [];
  const queue = new TaintQueue({
    clock,
    rate: 0.1,
    taint: async (node) => {
      tainted.push(node);
      return taint(node);
    },
  });
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      clock.advance(1_000);
      await settle(2);
    }
  };
  return { clock, queue, tainted, pass };
}

test("one node is tainted at once, and then one in ten seconds, each once", async () => {
  const { queue, tainted, pass, clock } = open();
  for (const node of ["a", "b", "c", "b"]) queue.add(node);
  await queue.work();
  expect(tainted).toEqual(["a"]);
  await pass(9);
  expect(tainted).toEqual(["a"]);
  await pass(1);
  expect(tainted).toEqual(["a", "b"]);
  queue.remove("c");
  await pass(100);
  expect(tainted).toEqual(["a", "b"]);
  expect(clock.timers).toBe(0);
  for (const node of ["d", "e"]) queue.add(node);
  await queue.work();
  expect(tainted).toEqual(["a", "b", "d"]);
  queue[Symbol.dispose]();
});

test("a queue that was stopped begins only when it has waited for its first node", async () => {
  const { queue, tainted, pass } = open();
  queue.setRate(0);
  queue.add("a");
  await queue.work();
  await pass(100);
  expect(tainted).toEqual([]);
  queue.setRate(0.1);
  await pass(9);
  expect(tainted).toEqual([]);
  await pass(1);
  expect(tainted).toEqual(["a"]);
  queue[Symbol.dispose]();
});

test("a node that could not be tainted waits for its next turn", async () => {
  let isReachable = false;
  const { queue, tainted, pass } = open(async () => isReachable);
  queue.add("a");
  await queue.work();
  isReachable = true;
  await pass(30);
  expect(tainted).toEqual(["a", "a"]);
  queue[Symbol.dispose]();
});
