import { expect, test } from "bun:test";
import type { Entry } from "../entry.ts";
import { EntryCache } from "./entry-cache.ts";

const entry = (bytes: number) => ({ body: new Uint8Array(bytes) }) as Entry;

test("the entries that were used least recently make room for others", () => {
  const cache = new EntryCache(100);
  for (const name of ["a", "b"]) cache.set(name, entry(40));
  cache.get("a");
  cache.set("c", entry(40));
  expect(["a", "b", "c"].map((name) => cache.get(name) !== undefined)).toEqual([true, false, true]);
  cache.set("c", entry(10));
  expect(cache.bytes).toBe(50);
  cache.set("d", entry(101));
  expect([cache.bytes, cache.get("d")]).toEqual([0, undefined]);
});
