import { expect, test } from "bun:test";
import { ManualClock } from "../storage/cacher/testing.ts";
import { status } from "../api/status.ts";
import { WorkQueue } from "./work-queue.ts";

const turn = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));

function queueOf(work: (key: string) => Promise<void>) {
  const clock = new ManualClock();
  const errors: unknown[] = [];
  return { clock, errors, queue: new WorkQueue({ clock, work, onError: (error) => errors.push(error) }) };
}

test("keys are handled one after another, each once however often it is added", async () => {
  const seen: string[] = [];
  let running = 0;
  const { queue } = queueOf(async (key) => {
    expect(++running).toBe(1);
    await undefined;
    seen.push(key);
    running--;
  });
  for (const key of ["a", "b", "a", "c", "b"]) queue.add(key);
  await turn();
  expect(seen).toEqual(["a", "b", "c"]);
});

test("a key that is added while it is handled is handled again", async () => {
  let looks = 0;
  const { queue } = queueOf(async (key) => {
    looks++;
    if (looks === 1) queue.add(key);
  });
  queue.add("a");
  await turn();
  expect(looks).toBe(2);
});

test("a failed key is retried with growing delays, and others continue", async () => {
  const seen: string[] = [];
  const { clock, errors, queue } = queueOf(async (key) => {
    seen.push(key);
    if (key === "bad") throw new Error("not yet");
  });
  queue.add("bad");
  queue.add("good");
  await turn();
  expect([seen, errors.length]).toEqual([["bad", "good"], 1]);
  for (const [wait, looks] of [
    [99, 1],
    [1, 2],
    [199, 2],
    [1, 3],
  ] as const) {
    clock.advance(wait);
    await turn();
    expect(seen.filter((key) => key === "bad")).toHaveLength(looks);
  }
});

test("a registry's rejection is retried silently", async () => {
  const { errors, queue } = queueOf(() => Promise.reject(notFound()));
  queue.add("a");
  await turn();
  expect(errors).toEqual([]);
});

test("nothing happens after the stop, not even planned work", async () => {
  const seen: string[] = [];
  const { clock, queue } = queueOf(async (key) => void seen.push(key));
  queue.addAfter("later", 10);
  queue.add("now");
  queue[Symbol.dispose]();
  clock.advance(100);
  queue.add("after");
  await turn();
  expect(seen).toEqual([]);
});

function notFound() {
  return status.notFound({ group: "", resource: "pods", name: "p" });
}
