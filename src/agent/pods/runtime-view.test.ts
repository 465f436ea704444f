import { expect, test } from "bun:test";
import { ManualClock } from "../../storage/cacher/testing.ts";
import { RuntimeView } from "./runtime-view.ts";
import { viewOf } from "./testing.ts";

const clock = new ManualClock();
const { sandboxes, containers } = viewOf({
  sandboxes: [true, false],
  runs: [
    ["b", 1, 1],
    ["a", 0],
    ["b", 0, 0],
  ],
});

test("it sorts sandboxes and runs by pod and age", async () => {
  const view = new RuntimeView(
    { sandboxes: async () => [...sandboxes].reverse(), containers: async () => containers },
    clock,
  );
  expect(view.of("u")).toEqual({ sandboxes: [], containers: [] });
  await view.refresh();
  expect(view.of("u").sandboxes.map(({ id }) => id)).toEqual(["sandbox-2", "sandbox-1"]);
  expect(view.of("u").containers.map(({ id }) => id)).toEqual(["a#0", "b#0", "b#1"]);
  expect([...view.podUids()]).toEqual(["u"]);
});

test("calls during a reading share the next one, which begins after them", async () => {
  const reads: (() => void)[] = [];
  const view = new RuntimeView(
    {
      sandboxes: () => new Promise((resolve) => reads.push(() => resolve([]))),
      containers: async () => [],
    },
    clock,
  );
  const first = view.refresh();
  const others = [view.refresh(), view.refresh()];
  expect(reads.length).toBe(1);
  reads[0]?.();
  await first;
  await new Promise((resolve) => setImmediate(resolve));
  expect(reads.length).toBe(2);
  reads[1]?.();
  await Promise.all(others);
});

test("a reading that fails does not spoil the next", async () => {
  let fails = true;
  const list = async () => {
    if (fails) throw new Error("the runtime is down");
    return [];
  };
  const view = new RuntimeView({ sandboxes: list, containers: async () => [] }, clock);
  const first = view.refresh().catch((error: Error) => error.message);
  const next = view.refresh();
  fails = false;
  expect(await first).toBe("the runtime is down");
  await next;
});
