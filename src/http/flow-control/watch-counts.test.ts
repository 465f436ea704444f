import { expect, test } from "bun:test";
import type { ResourceRequest } from "../../request/request-info.ts";
import { WatchCounts } from "./watch-counts.ts";

function request(namespace: string, name: string): ResourceRequest {
  return {
    kind: "resource",
    verb: "watch",
    path: "",
    group: "",
    version: "v1",
    resource: "pods",
    subresource: "",
    namespace,
    name,
    nameInPath: false,
    query: new Map(),
  };
}

test("an event reaches the watches of all, of its namespace and of its object", () => {
  const counts = new WatchCounts();
  counts.add(request("", ""));
  counts.add(request("a", ""));
  counts.add(request("a", "x"));
  counts.add(request("b", ""));
  expect(counts.reachedBy(request("a", "x"))).toBe(3);
  expect(counts.reachedBy(request("a", "y"))).toBe(2);
  expect(counts.reachedBy(request("c", "x"))).toBe(1);
});

test("a watch that has ended no longer counts, however often it is disposed", () => {
  const counts = new WatchCounts();
  const watch = counts.add(request("", ""));
  counts.add(request("", ""));
  watch[Symbol.dispose]();
  watch[Symbol.dispose]();
  expect(counts.reachedBy(request("a", "x"))).toBe(1);
});
