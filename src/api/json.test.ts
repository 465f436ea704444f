import { expect, test } from "bun:test";
import { cloneJson, equalJson, type JsonObject } from "./json.ts";

test("documents are equal in any order of keys", () => {
  expect(equalJson({ a: 1, b: [{ c: null }] }, { b: [{ c: null }], a: 1 })).toBe(true);
  expect(equalJson({ a: 1, b: 2 }, { a: 1 })).toBe(false);
  expect(equalJson({ a: 1 }, { a: 1, b: 2 })).toBe(false);
  expect(equalJson({ a: 1 }, { b: 1 })).toBe(false);
});

test("keys that every object inherits are compared like others", () => {
  const own = JSON.parse('{"constructor":{},"__proto__":{}}') as JsonObject;
  expect(equalJson(own, cloneJson(own))).toBe(true);
  expect(equalJson(own, {})).toBe(false);
  expect(equalJson({}, own)).toBe(false);
  expect(Object.keys(cloneJson(own))).toEqual(["constructor", "__proto__"]);
});

test("a copy shares nothing with its original", () => {
  const original = { a: [{ b: 1n }], c: "x" };
  const copy = cloneJson(original);
  expect(copy).toEqual(original);
  (copy.a[0] as JsonObject)["b"] = 2n;
  expect(original).toEqual({ a: [{ b: 1n }], c: "x" });
});
