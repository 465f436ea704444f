import { expect, test } from "bun:test";
import { status } from "../api/status.ts";
import { ManualClock } from "../storage/cacher/testing.ts";
import { WorkQueue, type WorkQueueOptions } from "./work-queue.ts";

const turn = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));

function queueOf(
  work: (key: string) => Promise<void>,
  options: Pick<WorkQueueOptions, "workers" | "failuresMax"> = {},
) {
  const clock = new ManualClock();
  const errors: unknown[] = [];
  return {
    clock,
    errors,
    queue: new WorkQueue({ name: "test", clock, work, onError: (error) => errors.push(error), ...options }),
  };
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

test("of several plans for a key the soonest counts", async () => {
  const seen: string[] = [];
  const { clock, queue } = queueOf(async (key) => void seen.push(key));
  queue.addAfter("often", 100);
  clock.advance(60);
  queue.addAfter("often", 100);
  queue.addAfter("sooner", 100);
  queue.addAfter("sooner", 10);
  clock.advance(40);
  await turn();
  expect(seen).toEqual(["sooner", "often"]);
  clock.advance(1_000);
  await turn();
  expect(seen).toHaveLength(2);
});

test("several workers work on several keys, never on the same one", async () => {
  const working = new Set<string>();
  const begun: string[] = [];
  let most = 0;
  const release: (() => void)[] = [];
  const { queue } = queueOf(
    async (key) => {
      expect(working.has(key)).toBe(false);
      working.add(key);
      begun.push(key);
      most = Math.max(most, working.size);
      await new Promise<void>((resolve) => release.push(resolve));
      working.delete(key);
    },
    { workers: 3 },
  );
  for (const key of ["a", "b", "c", "d"]) queue.add(key);
  await turn();
  expect([...working]).toEqual(["a", "b", "c"]);
  queue.add("a");
  await turn();
  expect(begun).toEqual(["a", "b", "c"]);
  for (let looks = 0; looks < 5; looks++) {
    release.shift()?.();
    await turn();
  }
  expect([begun, most]).toEqual([["a", "b", "c", "d", "a"], 3]);
});

test("a key that fails too often is given up until it is added again", async () => {
  let looks = 0;
  const { clock, queue } = queueOf(
    async () => {
      looks++;
      throw notFound();
    },
    { failuresMax: 3 },
  );
  queue.add("a");
  for (let second = 0; second < 300; second++) {
    clock.advance(1_000);
    await turn();
  }
  expect(looks).toBe(3);
  queue.add("a");
  await turn();
  expect(looks).toBe(4);
});

test("many failures at once are not tried again all at once", async () => {
  const tried = new Map<string, number>();
  const { clock, queue } = queueOf(
    async (key) => {
      tried.set(key, (tried.get(key) ?? 0) + 1);
      if (tried.get(key) === 1) throw notFound();
    },
    { workers: 4 },
  );
  const count = 300;
  for (let at = 0; at < count; at++) queue.add(`k${at}`);
  await turn();
  const again = () => [...tried.values()].filter((times) => times === 2).length;
  expect(tried.size).toBe(count);
  clock.advance(1_000);
  await turn();
  expect(again()).toBe(110);
  clock.advance(60_000);
  await turn();
  expect(again()).toBe(count);
});

function notFound() {
  return status.notFound({ group: "", resource: "pods", name: "p" });
}
