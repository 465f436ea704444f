import { expect, test } from "bun:test";
import { MemoryStore } from "../memory-store.ts";
import { CacherSet } from "./cacher-set.ts";
import { lineEncoder, ManualClock, MemorySink, put, settle } from "./testing.ts";

function open() {
  const store = new MemoryStore();
  const clock = new ManualClock();
  return { store, clock, set: new CacherSet({ store, clock }) };
}

test("each event reaches the cache of the longest prefix, and every cache knows the newest revision", async () => {
  const { store, set } = open();
  const pods = set.cacher("/registry/pods/");
  const widgets = set.cacher("/registry/example.com/widgets/");
  const special = set.cacher("/registry/pods/special/");
  await put(store, "a/x");
  await put(store, "special/x");
  await put(store, "/registry/example.com/widgets/x");
  await put(store, "/registry/unknown/x");
  expect([pods.size, widgets.size, special.size]).toEqual([1, 1, 1]);
  expect(pods.revision).toBe(store.revision);
  expect(set.revision).toBe(store.revision);
});

test("a cache created late begins with the state and misses no later event", async () => {
  const { store, set } = open();
  await put(store, "a/x");
  const pods = set.cacher("/registry/pods/");
  await put(store, "a/y");
  const page = await pods.list({ prefix: "/registry/pods/" });
  expect(page.entries.map(({ key }) => key)).toEqual(["/registry/pods/a/x", "/registry/pods/a/y"]);
  expect(set.cacher("/registry/pods/")).toBe(pods);
});

test("the watches of a removed resource end cleanly, and its next cache is a new one", async () => {
  const { store, clock, set } = open();
  const pods = set.cacher("/registry/pods/");
  const sink = new MemorySink();
  const done = pods
    .watch({
      prefix: "/registry/pods/",
      start: { kind: "initial", endBookmark: false },
      bookmarks: false,
      deadlineMs: clock.steadyMs() + 1e6,
      encoder: lineEncoder(),
    })
    .run(sink);
  set.remove("/registry/pods/");
  await done;
  await put(store, "a/x");
  await settle();
  expect(sink.frames).toEqual([]);
  expect(set.cacher("/registry/pods/")).not.toBe(pods);
  set.close();
  expect(clock.timers).toBe(0);
});
