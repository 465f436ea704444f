import { describe, expect, test } from "bun:test";
import type { Observed } from "../history/operation.ts";
import type { Freshness, ListRead } from "../history/reads.ts";
import { create, object, ok, story } from "../testing/histories.ts";
import { Chronicle } from "./chronicle.ts";
import { cachedReadLaw, listLaw } from "./read-law.ts";

const chronicle = new Chronicle([story]);
const operations = [create("x", "g2", ok("x", "g2", 12), [0, 50])];
const x1 = object("x", "r1", 11);
const x2 = object("x", "g2", 12);
const y3 = object("y", "r3", 13);

function list(freshness: Freshness, revision: number, objects: readonly Observed[], invokedMs = 100): ListRead {
  return { client: "l", member: 1, freshness, pages: 1, revision, objects, invokedMs, returnedMs: invokedMs + 1 };
}

describe("lists", () => {
  test.each<[what: string, read: ListRead]>([
    ["a consistent one", list({ kind: "consistent" }, 13, [x2, y3])],
    ["a consistent one before anything was acknowledged", list({ kind: "consistent" }, 11, [x1], 49)],
    ["an old one, for whoever takes anything", list({ kind: "any" }, 10, [])],
    ["an exact one of the past", list({ kind: "exact", revision: 11 }, 11, [x1])],
    ["a newer one than was asked for", list({ kind: "notOlderThan", revision: 12 }, 14, [y3])],
  ])("right: %s", (_, read) => expect(listLaw([read], operations, chronicle)).toEqual([]));

  test.each<[what: string, read: ListRead, detail: string]>([
    ["stale", list({ kind: "consistent" }, 11, [x1]), "12 had been acknowledged before"],
    ["older than asked for", list({ kind: "notOlderThan", revision: 13 }, 12, [x2]), "nothing older than 13"],
    ["not exact", list({ kind: "exact", revision: 11 }, 12, [x2]), "exactly 11"],
    ["an object is missing", list({ kind: "any" }, 13, [x2]), "y is missing"],
    ["an object too many", list({ kind: "any" }, 14, [x2, y3]), "x should be absent"],
    ["an old object", list({ kind: "any" }, 12, [x1]), "x is r1 at 11 instead of g2 at 12"],
    ["an object twice", list({ kind: "any" }, 12, [x2, x2]), "twice"],
  ])("wrong: %s", (_, read, detail) => {
    const violations = listLaw([read], operations, chronicle);
    expect(violations).toHaveLength(1);
    expect(violations[0]?.detail).toContain(detail);
  });
});

describe("reads from memory", () => {
  const read = (key: string, notOlderThan: number, found: Observed | undefined) =>
    cachedReadLaw([{ client: "w", member: 1, key, notOlderThan, object: found }], chronicle);

  test.each<[what: string, key: string, notOlderThan: number, found: Observed | undefined]>([
    ["an old state", "x", 0, x1],
    ["the state at the revision", "x", 11, x1],
    ["a newer state", "x", 11, x2],
    ["gone", "x", 14, undefined],
    ["not there yet", "y", 12, undefined],
    ["never there", "z", 14, undefined],
  ])("right: %s", (_, key, notOlderThan, found) => expect(read(key, notOlderThan, found)).toEqual([]));

  test.each<[what: string, key: string, notOlderThan: number, found: Observed | undefined]>([
    ["older than was named", "x", 12, x1],
    ["back after its deletion", "x", 14, x2],
    ["still missing", "y", 13, undefined],
    ["what never was", "x", 0, object("x", "b9", 12)],
  ])("wrong: %s", (_, key, notOlderThan, found) => expect(read(key, notOlderThan, found)).toHaveLength(1));
});
