import { expect, test } from "bun:test";
import { inMergedOrder, inPatchedOrder } from "./patched-order.ts";

const document = {
  kind: "K",
  apiVersion: "v1",
  metadata: { name: "n", labels: { b: "1", a: "2" } },
  spec: { z: 1, y: 2 },
};

test("a merge patch orders the objects that it looked into", () => {
  expect(JSON.stringify(inMergedOrder(document, { metadata: { labels: null } }))).toBe(
    '{"apiVersion":"v1","kind":"K","metadata":{"labels":{"a":"2","b":"1"},"name":"n"},"spec":{"z":1,"y":2}}',
  );
});

test("a merge patch orders the objects that it brought along, also those in lists", () => {
  const merged = { spec: { items: [{ z: 1, y: 2 }] } };
  expect(JSON.stringify(inMergedOrder(merged, merged))).toBe('{"spec":{"items":[{"y":2,"z":1}]}}');
});

test("a JSON patch orders what is on the way to its places, and not the places themselves", () => {
  const patch = [{ op: "add", path: "/metadata/labels", value: { b: "1", a: "2" } }];
  expect(JSON.stringify(inPatchedOrder(document, patch))).toBe(
    '{"apiVersion":"v1","kind":"K","metadata":{"labels":{"b":"1","a":"2"},"name":"n"},"spec":{"z":1,"y":2}}',
  );
});

test("a JSON patch goes through lists, escaped keys, and to where it takes from", () => {
  const value = { "b/c": [{ z: 1, y: 2 }], a: { d: 1, c: 2 } };
  const patch = [{ op: "copy", from: "/b~1c/0/z", path: "/a/c" }];
  expect(JSON.stringify(inPatchedOrder(value, patch))).toBe('{"a":{"c":2,"d":1},"b/c":[{"y":2,"z":1}]}');
});
