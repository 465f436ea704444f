import { expect, test } from "bun:test";
import fc from "fast-check";
import { countValues } from "../object-extent.ts";
import { jsonExtent } from "./json-extent.ts";

test("a compact text has as many values as its document", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      const text = JSON.stringify(value);
      const document = JSON.parse(text);
      expect(jsonExtent(text).values).toBe(countValues(document, 1_000_000));
    }),
  );
});

test("a text has as many members as its document, unless it repeats a key", () => {
  expect(jsonExtent('{"a":{"b:c":":","d":[{"e":1}]},"f":{}}').members).toBe(5);
  expect(jsonExtent('{"a":1,"a":2}').members).toBe(2);
});

test("depth is that of lists and objects inside each other", () => {
  expect(jsonExtent('{"a":[{"b":1},[2]],"c":[]}').depth).toBe(3);
  expect(jsonExtent("1").depth).toBe(0);
});

test("characters inside strings are not counted", () => {
  expect(jsonExtent('"a,[{\\",[{\\\\"')).toMatchObject({ values: 1, depth: 0 });
  expect(jsonExtent('["\\\\",1]').values).toBe(3);
});

test("a text that ends inside a string is handled", () => {
  expect(jsonExtent('["abc').values).toBe(2);
});

test.each(["1", "[-12.5,0]", '"1234567890123456789e9"', '{"a":123456789012345}'])("%s has plain numbers", (text) => {
  expect(jsonExtent(text).hasPlainNumbers).toBe(true);
});

test.each(["1e999", "[1,2E3]", "-1234567890123456", '{"a":0.12345678901234567}'])("%s has another number", (text) => {
  expect(jsonExtent(text).hasPlainNumbers).toBe(false);
});
