import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Entry, Key } from "../../api/entry.ts";
import { toRevision } from "../../api/revision.ts";
import { MemoryStore } from "../memory-store.ts";
import { CompactedError } from "../store.ts";
import { Cacher, type CacherLimits, type ListOptions } from "./cacher.ts";
import { ManualClock, put, remove } from "./testing.ts";

const prefix: Key = "/registry/pods/";

function open(limits: Partial<CacherLimits> = {}) {
  const store = new MemoryStore();
  const clock = new ManualClock();
  return { store, clock, cacher: new Cacher({ store, clock, prefix, limits }) };
}

const names = (entries: readonly Entry[]) =>
  entries.map(({ key, revision }) => `${key.slice(prefix.length)}@${revision}`);

test("a list has the entries in key order and the store's revision", async () => {
  const { store, cacher } = open();
  await put(store, "b/x");
  await put(store, "a/y");
  await put(store, "a/x");
  const page = await cacher.list({ prefix });
  expect(names(page.entries)).toEqual(["a/x@4", "a/y@3", "b/x@2"]);
  expect(page.revision).toBe(store.revision);
});

test("a namespace does not include names with the same prefix, nor a start outside it", async () => {
  const { store, cacher } = open();
  for (const name of ["a/x", "ab/x", "a-b/x", "b/x"]) await put(store, name);
  expect(names((await cacher.list({ prefix: `${prefix}a/` })).entries)).toEqual(["a/x@2"]);
  expect(names((await cacher.list({ prefix: `${prefix}a/`, start: "/" })).entries)).toEqual(["a/x@2"]);
  expect(names((await cacher.list({ prefix: `${prefix}a/`, start: `${prefix}b/` })).entries)).toEqual([]);
});

test("the newest entries are those of a namespace or of all", async () => {
  const { store, cacher } = open();
  for (const name of ["b/x", "a/x", "ab/x"]) await put(store, name);
  expect(names(cacher.entries())).toEqual(["a/x@3", "ab/x@4", "b/x@2"]);
  await remove(store, "b/x");
  await put(store, "a/y");
  expect(names(cacher.entries())).toEqual(["a/x@3", "a/y@6", "ab/x@4"]);
  expect(names(cacher.entries(`${prefix}a/`))).toEqual(["a/x@3", "a/y@6"]);
});

test("a page has the start of the next page and the remaining count, and an exact last page has no next page", async () => {
  const { store, cacher } = open();
  for (const name of ["a/1", "a/2", "a/3", "a/4"]) await put(store, name);
  const first = await cacher.list({ prefix, limit: 2 });
  expect(first).toMatchObject({ next: `${prefix}a/2\0`, remaining: 2 });
  const last = await cacher.list({ prefix, limit: 2, start: first.next as Key, at: first.revision });
  expect(last).toMatchObject({ next: undefined, remaining: undefined });
  expect(names(last.entries)).toEqual(["a/3@4", "a/4@5"]);
});

test("a page with a selection is full and has no remaining count", async () => {
  const { store, cacher } = open();
  for (let at = 0; at < 9; at++) await put(store, `a/${at}`, { odd: String(at % 2) });
  const page = await cacher.list({ prefix, limit: 2, matches: ({ index }) => index.labels?.odd === "1" });
  expect(names(page.entries)).toEqual(["a/1@3", "a/3@5"]);
  expect(page).toMatchObject({ next: `${prefix}a/3\0`, remaining: undefined });
});

test("listing a compacted revision fails, and listing a future revision is too large", async () => {
  const { store, cacher } = open();
  const first = await put(store, "a/1");
  const second = await put(store, "a/1");
  await store.compact(second);
  expect(() => cacher.list({ prefix, at: first })).toThrow(CompactedError);
  expect(() => cacher.list({ prefix, at: toRevision(second + 1) })).toThrow(
    "Too large resource version: 4, current: 3",
  );
});

test.each([
  ["from a kept tree", {}],
  ["from the event window", { snapshotsMax: 1 }],
  ["from the store", { windowEventsMax: 1, snapshotsMax: 1 }],
  ["from a bounded undo or the store", { undoEventsMax: 2 }],
])("a list at a past revision is the state at that revision: %s", async (_title, limits) => {
  const write = fc.record({ name: fc.constantFrom("a/1", "a/2", "b/1", "b/2", "c/1"), gone: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(
      fc.array(write, { minLength: 1, maxLength: 25 }),
      fc.integer({ min: 1, max: 3 }),
      async (writes, limit) => {
        const { store, cacher } = open(limits);
        const states = new Map([[store.revision, [] as string[]]]);
        for (const { name, gone } of writes) {
          if (gone) await remove(store, name);
          else await put(store, name);
          states.set(store.revision, names(store.scan(prefix)));
          await cacher.list({ prefix, limit: 1 });
        }
        for (const [at, expected] of states) expect(await allPages(cacher, { prefix, at, limit })).toEqual(expected);
        cacher.close();
      },
    ),
    { numRuns: 40 },
  );
});

test("pages of one list show one state despite writes between them", async () => {
  const { store, cacher } = open();
  for (let at = 10; at < 40; at++) await put(store, `a/${at}`);
  const expected = names(store.scan(prefix));
  const seen: string[] = [];
  let options: ListOptions = { prefix, limit: 7 };
  for (;;) {
    const page = await cacher.list(options);
    seen.push(...names(page.entries));
    if (page.next === undefined) break;
    expect(page.remaining).toBe(30 - seen.length);
    options = { prefix, limit: 7, start: page.next, at: page.revision };
    await put(store, `a/${15 + seen.length}`);
    await remove(store, `a/${11 + seen.length}`);
    await put(store, `a/${10 + seen.length}-new`);
  }
  expect(seen).toEqual(expected);
});

async function allPages(cacher: Cacher, options: ListOptions): Promise<string[]> {
  const all: string[] = [];
  let start: Key | undefined = options.prefix;
  while (start !== undefined) {
    const page = await cacher.list({ ...options, start });
    expect(page.entries.length).toBeLessThanOrEqual(options.limit as number);
    expect(page.revision).toBe(options.at as typeof page.revision);
    all.push(...names(page.entries));
    start = page.next;
  }
  return all;
}
