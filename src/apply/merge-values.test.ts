import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../api/json.ts";
import { mergeValues } from "./merge-values.ts";
import { sample, sampleType } from "./sample-type.ts";

const cases: readonly [string, JsonObject, JsonObject, JsonObject][] = [
  ["scalars, null among them", { replicas: 1, name: "a" }, { name: null }, { replicas: 1, name: null }],
  ["maps by key", { labels: { a: "1", b: "1" } }, { labels: { b: "2" } }, { labels: { a: "1", b: "2" } }],
  ["an atomic map", { whole: { a: "1" } }, { whole: { b: "1" } }, { whole: { b: "1" } }],
  ["an atomic list", { plain: ["a"] }, { plain: ["b"] }, { plain: ["b"] }],
  ["an empty map over nothing", {}, { labels: {} }, { labels: {} }],
  ["null over a full map, which stays", { labels: { a: "1" } }, { labels: null }, { labels: { a: "1" } }],
  ["sets in their orders", { tags: ["a", "b", "c"] }, { tags: ["x", "b", "y"] }, { tags: ["a", "x", "b", "c", "y"] }],
  ["sets in the applied order", { tags: ["a", "b", "c"] }, { tags: ["c", "a"] }, { tags: ["b", "c", "a"] }],
  ["duplicates, which one item replaces", { tags: ["a", "b", "a"] }, { tags: ["a"] }, { tags: ["a", "b"] }],
  [
    "items by key",
    { parts: [{ name: "a", size: 1 }, { name: "b" }] },
    { parts: [{ name: "b", size: 2 }, { name: "c" }] },
    { parts: [{ name: "a", size: 1 }, { name: "b", size: 2 }, { name: "c" }] },
  ],
];

describe("merges", () => {
  for (const [name, live, applied, merged] of cases) {
    test(name, () => expect(mergeValues(sample(live), sample(applied), sampleType)).toEqual(sample(merged)));
  }
});

test("parts that the body does not change are shared with the live object", () => {
  const live = sample({ parts: [{ name: "a", size: 1 }], tags: ["a", "b"], labels: { a: "1" } });
  const applied = sample({ parts: [{ name: "a", size: 1 }], tags: ["b"], labels: { a: "1" } });
  expect(mergeValues(live, applied, sampleType)).toBe(live);
});
