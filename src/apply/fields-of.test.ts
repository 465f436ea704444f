import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../api/json.ts";
import { fieldsOf } from "./fields-of.ts";
import { sample, sampleType } from "./sample-type.ts";

const cases: readonly [string, JsonObject, JsonObject][] = [
  ["leaves", { replicas: 1, name: null }, { "f:replicas": {}, "f:name": {} }],
  ["atomic values as a whole", { plain: [], whole: { a: "1" } }, { "f:plain": {}, "f:whole": {} }],
  ["items, but not their list", { tags: ["b", "a"] }, { "f:tags": { 'v:"a"': {}, 'v:"b"': {} } }],
  ["nothing of an empty list", { tags: [], replicas: 1 }, { "f:replicas": {} }],
  ["an empty object itself", { nested: {}, labels: {} }, { "f:nested": {}, "f:labels": {} }],
  ["map keys, but not their map", { labels: { a: "1" } }, { "f:labels": { "f:a": {} } }],
  ["undeclared keys with what is below", { free: { a: { b: 1 } } }, { "f:free": { "f:a": { ".": {}, "f:b": {} } } }],
  [
    "duplicates as one",
    { parts: [{ name: "a", size: 1 }, { name: "a" }, { name: "b" }] },
    { "f:parts": { 'k:{"name":"a"}': {}, 'k:{"name":"b"}': { ".": {}, "f:name": {} } } },
  ],
  [
    "an embedded object by its metadata too",
    { template: { kind: "Pod", metadata: { name: "x" }, a: "1" } },
    { "f:template": { "f:a": {}, "f:kind": {}, "f:metadata": { "f:name": {} } } },
  ],
];

describe("an apply owns", () => {
  for (const [name, spec, document] of cases) {
    test(name, () => {
      expect(fieldsOf(sample(spec), sampleType).child("f:spec")?.toDocument()).toEqual(document);
    });
  }
});
