import { afterEach, expect, test } from "bun:test";
import fc from "fast-check";
import type { Entry, Key } from "../../api/entry.ts";
import { type Revision, toRevision } from "../../api/revision.ts";
import { MemoryStore } from "../memory-store.ts";
import type { EventListener, StoreEvent } from "../store.ts";
import { bookmarkIntervalMs } from "./cache-watcher.ts";
import { Cacher, type CacherLimits, type WatchOptions } from "./cacher.ts";
import { lineEncoder, ManualClock, MemorySink, put, remove, settle } from "./testing.ts";

const prefix: Key = "/registry/pods/";
const farMs = 3_600_000;
const opened: Cacher[] = [];

afterEach(() => {
  for (const cacher of opened.splice(0)) cacher.close();
});

function open(limits: Partial<CacherLimits> = {}, store = new MemoryStore()) {
  const clock = new ManualClock();
  const counted = { historyReads: 0 };
  const metrics = { historyRead: () => void counted.historyReads++ };
  const cacher = new Cacher({ store, clock, prefix, limits, metrics, random: () => 0.5 });
  opened.push(cacher);
  const watch = (options: Partial<WatchOptions> = {}) => {
    const sink = new MemorySink();
    const watcher = cacher.watch({
      prefix,
      start: { kind: "after", revision: store.revision },
      bookmarks: false,
      deadlineMs: clock.steadyMs() + farMs,
      encoder: lineEncoder(),
      ...options,
    });
    const state = { ended: false };
    const done = watcher.run(sink).then(() => {
      state.ended = true;
    });
    return { sink, watcher, done, state };
  };
  return { store, clock, cacher, counted, watch };
}

const after = (revision: number) => ({ kind: "after", revision: toRevision(revision) }) as const;
const withLabel = (entry: Entry) => entry.index.labels?.["in"] === "yes";

test("a watch from unset sends the state in key order with each object's own version, then changes", async () => {
  const { store, watch } = open();
  await put(store, "b/x");
  await put(store, "a/x");
  const { sink } = watch({ start: { kind: "initial", endBookmark: true }, bookmarks: true });
  await put(store, "b/x");
  await remove(store, "a/x");
  await settle();
  expect(sink.frames).toEqual(["ADDED a/x@3", "ADDED b/x@2", "BOOKMARK 3 end", "MODIFIED b/x@4", "DELETED a/x@5"]);
});

test("an empty initial state still ends with its bookmark", () => {
  const { watch } = open();
  expect(watch({ start: { kind: "initial", endBookmark: true } }).sink.frames).toEqual(["BOOKMARK 1 end"]);
});

test("a watch after a revision gets exactly the later events", async () => {
  const { store, watch } = open();
  for (let at = 0; at < 5; at++) await put(store, "a/x");
  const { sink } = watch({ start: after(4) });
  expect(sink.frames).toEqual(["MODIFIED a/x@5", "MODIFIED a/x@6"]);
});

test("a watch after a future revision waits for it and sends no bookmark before it", async () => {
  const { store, clock, watch } = open();
  const { sink } = watch({ start: after(4), bookmarks: true });
  await put(store, "a/x");
  await put(store, "a/x");
  clock.advance(70_000);
  await settle();
  expect(sink.frames).toEqual([]);
  for (let at = 0; at < 3; at++) await put(store, "a/x");
  await settle();
  expect(sink.frames).toEqual(["MODIFIED a/x@5", "MODIFIED a/x@6", "BOOKMARK 6"]);
});

test.each([
  ["both states are selected", { in: "yes" }, { in: "yes" }, ["MODIFIED a/x@3"]],
  ["the object leaves the selection", { in: "yes" }, { in: "no" }, ["DELETED a/x@3"]],
  ["the object enters the selection", { in: "no" }, { in: "yes" }, ["ADDED a/x@3"]],
  ["neither state is selected", { in: "no" }, { in: "no" }, []],
  ["a selected object is deleted", { in: "yes" }, undefined, ["DELETED a/x@3"]],
  ["another object is deleted", { in: "no" }, undefined, []],
])("a watch with a selector shows %s", async (_title, before, later, expected) => {
  const { store, watch } = open();
  await put(store, "a/x", before);
  const { sink } = watch({ matches: withLabel });
  if (later === undefined) await remove(store, "a/x");
  else await put(store, "a/x", later);
  await settle();
  expect(sink.frames).toEqual(expected as string[]);
});

test("an object that leaves the selection is shown in its last selected state", async () => {
  const { store, watch } = open();
  await put(store, "a/x", { in: "yes", secret: "old" });
  const bodies: string[] = [];
  const encoder = {
    ...lineEncoder("bodies"),
    event: (_type: string, entry: Entry) => {
      bodies.push(new TextDecoder().decode(entry.body));
      return entry.body;
    },
  };
  watch({ matches: withLabel, encoder });
  await put(store, "a/x", { in: "no", secret: "new" });
  await settle();
  expect(JSON.parse(bodies[0] as string).metadata).toEqual({
    labels: { in: "yes", secret: "old" },
    resourceVersion: "3",
  });
});

test("a watch of one name or one namespace sees no events of its neighbours", async () => {
  const { store, watch } = open();
  const one = watch({ prefix: `${prefix}a/`, key: `${prefix}a/x` }).sink;
  const namespace = watch({ prefix: `${prefix}a/` }).sink;
  for (const name of ["a/x", "a/xy", "ab/x", "a/x/y"]) await put(store, name);
  await settle();
  expect(one.frames).toEqual(["ADDED a/x@2"]);
  expect(namespace.frames).toEqual(["ADDED a/x@2", "ADDED a/xy@3", "ADDED a/x/y@5"]);
});

test("bookmarks come about once a minute, when other resources make progress, and shortly before the deadline", async () => {
  const { store, clock, watch } = open();
  const { sink, state } = watch({ bookmarks: true, deadlineMs: clock.steadyMs() + 100_000 });
  await put(store, "/registry/services/x");
  clock.advance(59_000);
  await settle();
  expect(sink.frames).toEqual([]);
  clock.advance(1_200);
  await settle();
  expect(sink.frames).toEqual(["BOOKMARK 2"]);
  clock.advance(38_000);
  await settle();
  expect(sink.frames).toEqual(["BOOKMARK 2", "BOOKMARK 2"]);
  expect(state.ended).toBe(false);
  clock.advance(2_000);
  await settle();
  expect(state.ended).toBe(true);
  expect(sink.frames).toHaveLength(2);
});

test("a bookmark waits until the events before it are written", async () => {
  const { store, clock, watch } = open();
  const { sink } = watch({ bookmarks: true });
  sink.stall();
  await put(store, "a/x");
  await settle();
  await put(store, "a/y");
  clock.advance(61_000);
  await settle();
  expect(sink.frames).toEqual(["ADDED a/x@2"]);
  sink.resume();
  await settle();
  expect(sink.frames).toEqual(["ADDED a/x@2", "ADDED a/y@3", "BOOKMARK 3"]);
});

test("a start before the compacted revision ends with one 410 that names the oldest available revision", async () => {
  const { store, watch } = open({ windowEventsMax: 1, windowEventsMin: 1 });
  for (let at = 0; at < 9; at++) await put(store, "a/x");
  await store.compact(toRevision(8));
  const { sink, done } = watch({ start: after(5) });
  await done;
  expect(sink.frames).toEqual(["ERROR 410 too old resource version: 5 (8)"]);
});

test("a start before the window continues from the store's history, even when no event there concerns the watch", async () => {
  const { store, counted, watch } = open({ windowEventsMax: 2 });
  for (let at = 0; at < 300; at++) await put(store, `a/${at % 7}`);
  const { sink } = watch({ start: after(1) });
  const other = watch({ start: after(1), prefix: `${prefix}b/` }).sink;
  await settle(20);
  await put(store, "b/x");
  await settle();
  expect(sink.frames.map((line) => Number(line.split("@")[1]))).toEqual(Array.from({ length: 301 }, (_, at) => at + 2));
  expect(other.frames).toEqual(["ADDED b/x@302"]);
  expect(counted.historyReads).toBeLessThan(8);
});

/** A store whose events are all of one revision, as when a lease ends in etcd. */
class OneRevisionStore extends MemoryStore {
  readonly #later = new Set<StoreEvent>();
  #listener: EventListener = () => undefined;

  override subscribe(listener: EventListener): Disposable {
    this.#listener = listener;
    return super.subscribe(listener);
  }

  override async eventsAfter(after: Revision, { limit }: { limit: number }): Promise<StoreEvent[]> {
    const events = [...this.#later].filter(({ revision }) => revision > after);
    return events.filter((event, at) => at < limit || event.revision === events[limit - 1]?.revision);
  }

  /** Deletes everything at one revision. */
  deleteAll(): void {
    const revision = toRevision(this.revision + 1);
    for (const entry of this.scan(prefix)) {
      this.#later.add({ revision, type: "DELETED", entry: { ...entry, revision }, previous: entry });
    }
    this.#listener([...this.#later], revision, false);
  }
}

test.each([
  ["from the window", {}, {}],
  ["from the store's history", { windowEventsMax: 10, historyEventsMax: 7 }, {}],
  ["prepared, from the window", {}, { prepare: (entries: readonly Entry[]) => entries }],
  [
    "prepared, from the store's history",
    { windowEventsMax: 10, historyEventsMax: 7 },
    { prepare: (entries: readonly Entry[]) => entries },
  ],
])("all changes of one revision reach the cache and its watches: %s", async (_title, limits, encoding) => {
  const store = new OneRevisionStore();
  const { cacher, watch } = open(limits, store);
  const count = 300;
  for (let at = 0; at < count; at++) await put(store, `a/${at}`, {}, "x".repeat(8_192));
  const wide = { ...lineEncoder(), ...encoding, event: (type: string, { key }: Entry) => lineOf(type, key) };
  const sinks = [watch({ encoder: wide }).sink, watch({ encoder: wide }).sink];
  for (const sink of sinks) sink.stall();
  store.deleteAll();
  for (let turn = 0; turn < count; turn++) {
    await settle(1);
    for (const sink of sinks) sink.resume();
    for (const sink of sinks) sink.stall();
  }
  expect(cacher.size).toBe(0);
  for (const sink of sinks) {
    expect(sink.frames.map((line) => line.trim())).toEqual(
      Array.from({ length: count }, (_, at) => `DELETED ${prefix}a/${at}`).sort(),
    );
  }
});

/** Returns a line of 1 KiB, so that many events fill more than one chunk. */
function lineOf(type: string, key: Key): Uint8Array {
  return new TextEncoder().encode(`${`${type} ${key}`.padEnd(1_024)}\n`);
}

test("a stalled watch does not delay others and later continues without a gap", async () => {
  const { store, watch } = open({ windowEventsMax: 10 });
  const slow = watch().sink;
  const quick = watch().sink;
  slow.stall();
  for (let at = 0; at < 500; at++) {
    await put(store, "a/x");
    if (at % 50 === 0) await settle(1);
  }
  await settle();
  expect(quick.frames).toHaveLength(500);
  expect(slow.frames.length).toBeLessThan(100);
  slow.resume();
  await settle(60);
  expect(slow.frames).toEqual(quick.frames);
});

test.each([
  ["the client goes away", (run: ReturnType<ReturnType<typeof open>["watch"]>) => run.sink.abort()],
  ["it is stopped", (run: ReturnType<ReturnType<typeof open>["watch"]>) => run.watcher.stop()],
])("a watch ends and releases everything when %s", async (_title, end) => {
  const { store, clock, cacher, watch } = open();
  const idle = clock.timers;
  const runs = [watch({ bookmarks: true }), watch({ start: { kind: "initial", endBookmark: true } })];
  runs[0]?.sink.stall();
  await put(store, "a/x");
  await settle();
  expect(cacher.watching).toBe(2);
  for (const run of runs) end(run);
  await Promise.all(runs.map(({ done }) => done));
  expect(cacher.watching).toBe(0);
  expect(clock.timers).toBe(idle);
});

test("closing the cache ends its watches cleanly, and later watches end at once", async () => {
  const { store, cacher, watch } = open();
  const first = watch();
  cacher.close();
  await first.done;
  const second = watch();
  await second.done;
  await put(store, "a/x");
  await settle();
  expect([...first.sink.frames, ...second.sink.frames]).toEqual([]);
});

test("an object that cannot be encoded ends the watch with a 500", async () => {
  const { store, watch } = open();
  const encoder = {
    ...lineEncoder("broken"),
    event: () => {
      throw new Error("conversion failed");
    },
  };
  const { sink, done } = watch({ encoder });
  await put(store, "a/x");
  await done;
  expect(sink.frames).toEqual(["ERROR 500 Internal error occurred: conversion failed"]);
});

test("an event is only shown to the watches that it may concern, and the others still make progress", async () => {
  const { store, clock, watch } = open();
  const asked: string[] = [];
  const watches = ["red", "blue"].map((color) =>
    watch({
      bookmarks: true,
      pins: [{ facet: "label color", values: [color] }],
      matches: (entry) => {
        asked.push(color);
        return entry.index.labels?.["color"] === color;
      },
    }),
  );
  for (let at = 0; at < 3; at++) await put(store, `a/${at}`, { color: "red" });
  await settle();
  expect(new Set(asked)).toEqual(new Set(["red"]));
  clock.advance(bookmarkIntervalMs);
  await settle();
  await put(store, "a/0", { color: "blue" });
  await settle();
  expect(watches.map(({ sink }) => sink.frames)).toEqual([
    ["ADDED a/0@2", "ADDED a/1@3", "ADDED a/2@4", "BOOKMARK 4", "DELETED a/0@5"],
    ["BOOKMARK 4", "ADDED a/0@5"],
  ]);
});

test("an event is encoded once for all watchers of a format", async () => {
  const { store, watch } = open();
  let encoded = 0;
  const line = lineEncoder("counted");
  const encoder = {
    ...line,
    event: (type: "ADDED" | "MODIFIED" | "DELETED", entry: Entry) => {
      encoded++;
      return line.event(type, entry);
    },
  };
  const sinks = Array.from(
    { length: 50 },
    (_, at) => watch({ encoder, ...(at % 2 === 0 ? {} : { matches: () => true }) }).sink,
  );
  for (let at = 0; at < 20; at++) await put(store, "a/x");
  await settle();
  expect(encoded).toBe(20);
  for (const sink of sinks) expect(sink.frames).toEqual((sinks[0] as MemorySink).frames);
  expect(sinks[0]?.frames).toHaveLength(20);
});

type Step =
  | { readonly do: "put" | "remove"; readonly name: string; readonly yes: boolean }
  | { readonly do: "stall" | "resume" | "restart"; readonly which: number }
  | { readonly do: "settle" };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom("put" as const, "remove" as const),
      name: fc.constantFrom("a/1", "a/2", "b/1", "b/2"),
      yes: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom("stall" as const, "resume" as const, "restart" as const),
      which: fc.nat(5),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: "settle" as const }) },
);

test.each([
  ["a wide window", {}],
  ["a narrow window", { windowEventsMax: 3, windowEventsMin: 1 }],
  ["few kept frames", { frameBytesMax: 20 }],
])(
  "each watch sees every change once and in order, after any writes and whichever watch stalls: %s",
  async (_title, limits) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const system = open(limits);
        const watches = [
          new ModelWatch(system, {}),
          new ModelWatch(system, {}),
          new ModelWatch(system, { matches: withLabel }),
          new ModelWatch(system, { matches: withLabel, pins: [{ facet: "label in", values: ["yes"] }] }),
          new ModelWatch(system, { prefix: `${prefix}a/` }),
          new ModelWatch(system, { prefix: `${prefix}a/`, key: `${prefix}a/1`, matches: withLabel }),
        ];
        for (const each of steps) {
          if (each.do === "put") await put(system.store, each.name, { in: each.yes ? "yes" : "no" });
          else if (each.do === "remove") await remove(system.store, each.name);
          else if ("which" in each) watches[each.which]?.[each.do]();
          else await settle(1);
        }
        for (const watch of watches) watch.resume();
        await settle(8);
        for (const watch of watches) watch.check();
      }),
      { numRuns: 60 },
    );
  },
);

/** A client that builds its state from events, resumes where it stopped, and compares its state with the store's. */
class ModelWatch {
  readonly #system: ReturnType<typeof open>;
  readonly #scope: Partial<WatchOptions>;
  #run: ReturnType<ReturnType<typeof open>["watch"]>;
  readonly #state = new Map<string, number>();
  #last: Revision;

  constructor(system: ReturnType<typeof open>, scope: Partial<WatchOptions>) {
    this.#system = system;
    this.#scope = scope;
    this.#last = system.store.revision;
    this.#run = system.watch(scope);
  }

  stall(): void {
    this.#run.sink.stall();
  }

  resume(): void {
    this.#run.sink.resume();
  }

  restart(): void {
    this.#run.watcher.stop();
    this.#read();
    this.#run = this.#system.watch({ ...this.#scope, start: { kind: "after", revision: this.#last } });
  }

  check(): void {
    this.#read();
    const { matches, key, prefix: below = prefix } = this.#scope;
    const expected = this.#system.store
      .scan(below)
      .filter((entry) => (key === undefined || entry.key === key) && (matches?.(entry) ?? true))
      .map((entry) => [entry.key.slice(prefix.length), Number(entry.revision)] as const);
    expect([...this.#state].sort()).toEqual(expected as [string, number][]);
  }

  #read(): void {
    for (const line of this.#run.sink.frames) {
      const [type, name, version] = line.split(/[ @]/) as [string, string, string];
      const revision = toRevision(Number(version));
      expect(revision).toBeGreaterThan(this.#last);
      this.#last = revision;
      expect(this.#state.has(name)).toBe(type !== "ADDED");
      if (type === "DELETED") this.#state.delete(name);
      else this.#state.set(name, revision);
    }
  }
}
