import { expect, test } from "bun:test";
import { SetMap } from "./set-map.ts";

test("a key exists while its set has values", () => {
  const map = new SetMap<string, number>();
  map.add("a", 1);
  map.add("a", 2);
  map.add("a", 1);
  map.add("b", 1);
  expect([...map.get("a")]).toEqual([1, 2]);
  map.delete("a", 1);
  expect([...map.get("a")]).toEqual([2]);
  map.delete("a", 2);
  map.delete("a", 2);
  map.delete("c", 1);
  expect([...map.keys()]).toEqual(["b"]);
  expect(map.get("a").size).toBe(0);
});
