import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../api/json.ts";
import { runToEnd } from "../api/testing.ts";
import { atOnce } from "../process/sliced.ts";
import { FieldSet } from "./field-set.ts";
import { parseFieldsV1, readStoredFields } from "./fields-v1.ts";

const set = FieldSet.of(["f:a"], ["f:a", "f:b"], ["f:c", 'k:{"name":"x"}'], ["f:d", "v:2"]);

test("a document is read back as the set that it was made of", () => {
  expect(atOnce(parseFieldsV1(set.toDocument())).equals(set)).toBe(true);
  expect(readStoredFields(set.toDocument()).equals(set)).toBe(true);
  expect(readStoredFields({}).isEmpty).toBe(true);
});

test("a document of a client is brought into order, and what nobody knows is dropped", () => {
  const read = atOnce(parseFieldsV1({ "f:b": {}, "x:y": {}, "f:a": { "x:z": {} }, ".": {}, "f:c": null }));
  expect(JSON.stringify(read.toDocument())).toBe('{"f:a":{},"f:b":{},"f:c":{}}');
});

test("of two texts for one element the last one counts", () => {
  const read = atOnce(parseFieldsV1({ 'k:{"a":1}': { "f:x": {} }, 'k:{"a": 1}': { "f:y": {} } }));
  expect(read.paths()).toEqual([['k:{"a":1}', "f:y"]]);
});

describe("a value that is not a document", () => {
  const deep = Array.from({ length: 1_100 }).reduce<object>((below) => ({ "f:a": below }), {});
  const documents = [1, "text", [], { "f:a": 5 }, { bad: {} }, { "k:[": {} }, deep];
  for (const document of documents) {
    test(`${JSON.stringify(document).slice(0, 30)} is refused`, () =>
      expect(() => atOnce(parseFieldsV1(document as never))).toThrow());
  }
});

test("a large set is read and written in steps", () => {
  const names = Array.from({ length: 5_000 }, (_, at) => (at * 7_919) % 5_000);
  const items = names.map((name) => `k:{"name":"item-${name}"}`);
  const values = names.map((name) => `v:"${name}"`);
  const fields = names.map((name) => `f:${name}`);
  const documentOf = (elements: readonly string[], below: object) =>
    Object.fromEntries(elements.map((element) => [element, below]));
  const read = runToEnd(
    parseFieldsV1({
      "f:spec": { "f:items": documentOf(items, { ".": {} }), "f:set": documentOf(values, {}), ".": {} },
      "f:data": documentOf(fields, { "f:a": {}, ".": {} }),
    } as JsonObject),
  );
  expect(read.yields).toBeGreaterThan(40);
  const expected = FieldSet.of(
    ["f:spec"],
    ...items.map((element) => ["f:spec", "f:items", element]),
    ...values.map((element) => ["f:spec", "f:set", element]),
    ...fields.flatMap((element) => [
      ["f:data", element],
      ["f:data", element, "f:a"],
    ]),
  );
  expect(read.result.equals(expected)).toBe(true);
  const written = runToEnd(read.result.prepareDocument());
  expect(written.yields).toBeGreaterThan(10);
  expect(JSON.stringify(read.result.toDocument())).toBe(JSON.stringify(expected.toDocument()));
});

test("a set of many small parts is read in steps", () => {
  const part = Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`f:${at}`, {}]));
  const document = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`f:part-${at}`, part]));
  expect(runToEnd(parseFieldsV1(document)).yields).toBeGreaterThan(100);
});
