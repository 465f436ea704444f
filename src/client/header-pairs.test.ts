import { expect, test } from "bun:test";
import { groupedHeaders, headerPairs } from "./header-pairs.ts";

test("groupedHeaders() keeps every value, whatever the name", () => {
  const grouped = groupedHeaders([
    ["a", "1"],
    ["constructor", "x"],
    ["__proto__", "y"],
    ["a", "2"],
    ["a", "3"],
  ]);
  expect(Object.entries(grouped)).toEqual([
    ["a", ["1", "2", "3"]],
    ["constructor", "x"],
    ["__proto__", "y"],
  ]);
});

test("headerPairs() keeps the order and repeated names", () => {
  expect(headerPairs(["A", "1", "b", "2", "a", "3"])).toEqual([
    ["a", "1"],
    ["b", "2"],
    ["a", "3"],
  ]);
});
