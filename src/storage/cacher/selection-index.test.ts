import { beforeEach, expect, test } from "bun:test";
import type { Entry } from "../../api/entry.ts";
import { toRevision } from "../../api/revision.ts";
import type { Facet, Pin } from "./facet.ts";
import { type CacherLimits, defaultCacherLimits } from "./limits.ts";
import { SelectionIndex } from "./selection-index.ts";
import { type EntryTree, entryTree } from "./tree.ts";

const prefix = "/registry/pods/";
const size = 300;
const tree: EntryTree = entryTree(Array.from({ length: size }, (_, at) => pod(`a/${1_000 + at}`, `v${at % 100}`)));

function pod(name: string, value: string): Entry {
  const index = {
    apiVersion: "v1",
    uid: name,
    labels: { app: value, tier: value },
    fields: undefined,
    owners: undefined,
  };
  return { key: prefix + name, revision: toRevision(1), createRevision: toRevision(1), index, body: new Uint8Array() };
}

const pinned = (facet: Facet, ...values: string[]): Pin[] => [{ facet, values }];
let index: SelectionIndex;
let nowMs = 0;
beforeEach(() => open());

function open(limits: Partial<CacherLimits> = {}): void {
  nowMs = 0;
  index = new SelectionIndex(prefix, { ...defaultCacherLimits, ...limits });
}

/** Scans everything for nothing. Returns true if the facet then gets postings. */
function scan(pins: readonly Pin[]): boolean {
  return index.examinedInVain(pins, size, size, nowMs);
}

function learn(facet: Facet): void {
  while (!scan(pinned(facet)));
  while (index.build(tree));
}

const keysOf = (found: EntryTree | undefined) => found?.keysArray().map((key) => key.slice(prefix.length));

test("the second scan for a label within some seconds makes its postings", () => {
  const pins = pinned("label app", "v7");
  expect(scan(pins)).toBe(false);
  expect(scan(pins)).toBe(true);
  expect(index.select(pins, size, nowMs)).toBeUndefined();
  while (index.build(tree));
  expect(keysOf(index.select(pins, size, nowMs))).toEqual(["a/1007", "a/1107", "a/1207"]);
  expect(keysOf(index.select(pinned("label app", "v8", "v107", "v7"), size, nowMs))).toEqual([
    "a/1007",
    "a/1008",
    "a/1107",
    "a/1108",
    "a/1207",
    "a/1208",
  ]);
  expect(keysOf(index.select(pinned("label app", "none"), size, nowMs))).toEqual([]);
});

test("scans that are far apart make none", () => {
  for (let at = 0; at < 20; at++) {
    expect(scan(pinned("label app", "v7"))).toBe(false);
    for (let trims = 0; trims < 2; trims++) index.trim((nowMs += 10_000));
  }
});

test("a small resource has none", () => {
  open({ postedResourceMin: size + 1 });
  for (let at = 0; at < 9; at++) expect(scan(pinned("label app", "v7"))).toBe(false);
});

test("a selection with several conditions gets one facet, and uses the one with the fewest entries", () => {
  const both: Pin[] = [...pinned("label app", "v7"), ...pinned("name", "1107")];
  scan(both);
  expect(scan(both)).toBe(true);
  expect(index.facets).toEqual(["label app"]);
  learn("name");
  expect(keysOf(index.select(both, size, nowMs))).toEqual(["a/1107"]);
});

test("many values with much of the resource are scanned for", () => {
  learn("label app");
  const values = Array.from({ length: 20 }, (_, at) => `v${at}`);
  expect(index.select(pinned("label app", ...values), size, nowMs)).toBeUndefined();
});

test("unused postings are dropped", () => {
  learn("label app");
  learn("label tier");
  index.trim((nowMs += defaultCacherLimits.postedAgeMs));
  index.select(pinned("label app", "v1"), size, nowMs);
  index.trim((nowMs += 1));
  expect(index.facets).toEqual(["label app"]);
});

test("facets and entries have limits", () => {
  open({ postedFacetsMax: 1 });
  learn("label app");
  for (let at = 0; at < 9; at++) expect(scan(pinned("label tier", "v1"))).toBe(false);
  open({ postedEntriesMax: size - 1 });
  for (let at = 0; at < 9; at++) expect(scan(pinned("label app", "v1"))).toBe(false);
  open({ postedEntriesMax: size * 2 });
  learn("label app");
  learn("label tier");
  index.select(pinned("label app", "v1"), size, nowMs);
  index.apply({ type: "ADDED", entry: pod("a/new", "v1"), previous: undefined, revision: toRevision(2) });
  expect(index.facets).toEqual(["label app"]);
});
