import { describe, expect, test } from "bun:test";
import { runToEnd } from "../api/testing.ts";
import { FieldSet } from "./field-set.ts";
import { parseFieldsV1, parseFieldsV1InSteps, readStoredFields } from "./fields-v1.ts";

const set = FieldSet.of(["f:a"], ["f:a", "f:b"], ["f:c", 'k:{"name":"x"}'], ["f:d", "v:2"]);

test("a document is read back as the set that it was made of", () => {
  expect(parseFieldsV1(set.toDocument()).equals(set)).toBe(true);
  expect(readStoredFields(set.toDocument()).equals(set)).toBe(true);
  expect(readStoredFields({}).isEmpty).toBe(true);
});

test("a document of a client is brought into order, and what nobody knows is dropped", () => {
  const read = parseFieldsV1({ "f:b": {}, "x:y": {}, "f:a": { "x:z": {} }, ".": {}, "f:c": null });
  expect(JSON.stringify(read.toDocument())).toBe('{"f:a":{},"f:b":{},"f:c":{}}');
});

test("of two texts for one element the last one counts", () => {
  const read = parseFieldsV1({ 'k:{"a":1}': { "f:x": {} }, 'k:{"a": 1}': { "f:y": {} } });
  expect(read.paths()).toEqual([['k:{"a":1}', "f:y"]]);
});

describe("a value that is not a document", () => {
  const deep = Array.from({ length: 1_100 }).reduce<object>((below) => ({ "f:a": below }), {});
  const documents = [1, "text", [], { "f:a": 5 }, { bad: {} }, { "k:[": {} }, deep];
  for (const document of documents) {
    test(`${JSON.stringify(document).slice(0, 30)} is refused`, () =>
      expect(() => parseFieldsV1(document as never)).toThrow());
  }
});

test("a large set is read and written in steps", () => {
  const items = Array.from({ length: 5_000 }, (_, at) => [`k:{"name":"item-${(at * 7_919) % 5_000}"}`, { ".": {} }]);
  const values = Array.from({ length: 3_000 }, (_, at) => [`v:"${(at * 7_919) % 3_000}"`, {}]);
  const fields = Array.from({ length: 3_000 }, (_, at) => [`f:${(at * 7_919) % 3_000}`, { "f:a": {}, ".": {} }]);
  const document = {
    "f:spec": { "f:items": Object.fromEntries(items), "f:set": Object.fromEntries(values), ".": {} },
    "f:data": Object.fromEntries(fields),
  };
  const read = runToEnd(parseFieldsV1InSteps(document));
  expect(read.yields).toBeGreaterThan(40);
  expect(read.result.equals(parseFieldsV1(document))).toBe(true);
  const written = runToEnd(read.result.prepareDocument());
  expect(written.yields).toBeGreaterThan(10);
  expect(JSON.stringify(read.result.toDocument())).toBe(JSON.stringify(parseFieldsV1(document).toDocument()));
});
