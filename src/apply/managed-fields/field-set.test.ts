import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { FieldSet, parseFieldsV1 } from "./field-set.ts";

const text = (set: FieldSet | undefined) => set && JSON.stringify(set.toFieldsV1());

describe("FieldsV1", () => {
  test("a path that is owned and has owned parts carries a dot", () => {
    const set = FieldSet.of(["f:metadata", "f:labels"], ["f:metadata", "f:labels", "f:app"], ["f:spec", "f:x"]);
    expect(text(set)).toBe('{"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:x":{}}}');
  });

  test("elements are written fields first, then keys with numbers by value, then values, then indices", () => {
    const set = FieldSet.of(
      ["i:1"],
      ['v:"b"'],
      ['k:{"port":443,"protocol":"TCP"}'],
      ['k:{"port":80,"protocol":"TCP"}'],
      ["f:z"],
      ["f:a"],
    );
    expect(Object.keys(set.toFieldsV1())).toEqual([
      "f:a",
      "f:z",
      'k:{"port":80,"protocol":"TCP"}',
      'k:{"port":443,"protocol":"TCP"}',
      'v:"b"',
      "i:1",
    ]);
  });

  test("keys that a client sent in another form are made canonical", () => {
    expect(text(parseFieldsV1({ 'k:{"b": 1, "a":"x"}': {}, "v: 3": {} }))).toBe(
      '{"k:{\\"a\\":\\"x\\",\\"b\\":1}":{},"v:3":{}}',
    );
  });

  test("__proto__ is a field like any other", () => {
    const json = JSON.parse('{"f:__proto__":{"f:x":{}}}') as JsonObject;
    expect(text(parseFieldsV1(json))).toBe('{"f:__proto__":{"f:x":{}}}');
  });

  const malformed: readonly [JsonValue | undefined][] = [
    [undefined],
    [null],
    ["f:a"],
    [[]],
    [{ "f:a": null }],
    [{ "f:a": 1 }],
    [{ a: {} }],
    [{ "k:{": {} }],
    [{ "k:[]": {} }],
    [{ "v:": {} }],
    [{ "i:-1": {} }],
    [{ "f:a": { "x:b": {} } }],
  ];
  test.each(malformed)("%j is malformed", (json) => {
    expect(parseFieldsV1(json)).toBeUndefined();
  });

  test("nesting without end is malformed", () => {
    let json: JsonObject = {};
    for (let at = 0; at < 3_000; at++) json = { "f:a": json };
    expect(parseFieldsV1(json)).toBeUndefined();
  });
});

describe("the algebra of sets", () => {
  const path = fc.array(fc.constantFrom("f:a", "f:b", 'k:{"n":1}', "v:1"), { minLength: 1, maxLength: 3 });
  const paths = fc.array(path, { maxLength: 8 });
  const setOf = (list: string[][]) => FieldSet.of(...list);
  const keys = (set: FieldSet) => new Set(set.paths().map((one) => one.join("/")));
  const expectSame = (set: FieldSet, expected: Set<string>) =>
    expect([...keys(set)].sort()).toEqual([...expected].sort());

  test("is that of sets of paths", () => {
    fc.assert(
      fc.property(paths, paths, (first, second) => {
        const [a, b] = [setOf(first), setOf(second)];
        const [inA, inB] = [keys(a), keys(b)];
        expectSame(a.union(b), inA.union(inB));
        expectSame(a.difference(b), inA.difference(inB));
        expectSame(a.intersection(b), inA.intersection(inB));
        expect(a.equals(b)).toBe(inA.symmetricDifference(inB).size === 0);
        expect(a.difference(b).union(a.intersection(b)).equals(a)).toBe(true);
        for (const one of first) expect(a.has(one)).toBe(true);
      }),
    );
  });

  test("survives the way to the wire and back", () => {
    fc.assert(fc.property(paths, (list) => parseFieldsV1(setOf(list).toFieldsV1())?.equals(setOf(list)) === true));
  });

  test("a recursive difference takes what is below along", () => {
    const set = FieldSet.of(["f:status", "f:phase"], ["f:spec", "f:a"]);
    expect(text(set.recursiveDifference(FieldSet.of(["f:status"])))).toBe('{"f:spec":{"f:a":{}}}');
  });

  test("a difference that removes nothing is the very set", () => {
    const set = FieldSet.of(["f:a", "f:b"]);
    expect(set.difference(FieldSet.of(["f:a"], ["f:c"]))).toBe(set);
    expect(set.union(FieldSet.of(["f:a", "f:b"]))).toBe(set);
  });
});
