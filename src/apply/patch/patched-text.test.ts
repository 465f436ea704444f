import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { runToEnd } from "../../api/testing.ts";
import { patchedInOrderInSteps, patchedText } from "./patched-text.ts";

const merged: JsonObject = { kind: "K", apiVersion: "v1", spec: { b: { d: 1, c: 2 }, a: [{ f: 1, e: 2 }] } };

test.each<[type: "json" | "merge", patch: JsonValue, text: string]>([
  ["merge", {}, '{"apiVersion":"v1","kind":"K","spec":{"b":{"d":1,"c":2},"a":[{"f":1,"e":2}]}}'],
  ["merge", { spec: { x: null } }, '{"apiVersion":"v1","kind":"K","spec":{"a":[{"f":1,"e":2}],"b":{"d":1,"c":2}}}'],
  [
    "merge",
    { spec: { a: [{ f: 1, e: 2 }] } },
    '{"apiVersion":"v1","kind":"K","spec":{"a":[{"e":2,"f":1}],"b":{"d":1,"c":2}}}',
  ],
  [
    "json",
    [{ op: "add", path: "/spec/b/c", value: 2 }],
    '{"apiVersion":"v1","kind":"K","spec":{"a":[{"f":1,"e":2}],"b":{"c":2,"d":1}}}',
  ],
  [
    "json",
    [{ op: "copy", from: "/kind", path: "/spec/a/0/e" }],
    '{"apiVersion":"v1","kind":"K","spec":{"a":[{"e":2,"f":1}],"b":{"d":1,"c":2}}}',
  ],
])("a %s patch %j sorts the keys of the maps that it changes", (type, patch, text) => {
  expect(patchedText(merged, patch, type)).toBe(text);
});

test("the order is made with a pause for each operation", () => {
  const operations = Array.from({ length: 500 }, (_, at) => ({ op: "add", path: `/spec/b/c~1${at}`, value: 2 }));
  const { result, yields } = runToEnd(patchedInOrderInSteps(merged, operations, "json"));
  expect(yields).toBeGreaterThanOrEqual(500);
  expect(JSON.stringify(result["spec"])).toBe('{"a":[{"f":1,"e":2}],"b":{"c":2,"d":1}}');
});
