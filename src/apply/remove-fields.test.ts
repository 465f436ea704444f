import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../api/json.ts";
import { atOnce } from "../process/sliced.ts";
import { parseFieldsV1 } from "./fields-v1.ts";
import { removeFields } from "./remove-fields.ts";
import { sample, sampleType } from "./sample-type.ts";

const cases: readonly [string, JsonObject, JsonObject, JsonObject][] = [
  ["a field", { replicas: 1, name: "a" }, { "f:replicas": {} }, { name: "a" }],
  ["a set item", { tags: ["a", "b"] }, { "f:tags": { 'v:"a"': {} } }, { tags: ["b"] }],
  [
    "a part of an item",
    { parts: [{ name: "a", size: 1 }] },
    { "f:parts": { 'k:{"name":"a"}': { "f:size": {} } } },
    { parts: [{ name: "a" }] },
  ],
  ["all of a map", { labels: { a: "1" } }, { "f:labels": { "f:a": {} } }, { labels: {} }],
  ["all of a list", { tags: ["a"] }, { "f:tags": { 'v:"a"': {} } }, { tags: [] }],
  ["what is not there", { name: "a" }, { "f:labels": { "f:a": {} } }, { name: "a" }],
];

describe("removes", () => {
  for (const [name, spec, document, left] of cases) {
    test(name, () => {
      const fields = atOnce(parseFieldsV1({ "f:spec": document }));
      expect(removeFields(sample(spec), fields, sampleType, "empty")).toEqual(sample(left));
    });
  }
});

test("null can stand for what has lost all its parts", () => {
  const fields = atOnce(parseFieldsV1({ "f:spec": { "f:labels": { "f:a": {} }, "f:tags": { 'v:"a"': {} } } }));
  const left = removeFields(sample({ labels: { a: "1" }, tags: ["a"] }), fields, sampleType, "null");
  expect(left).toEqual(sample({ labels: null, tags: null }));
});
