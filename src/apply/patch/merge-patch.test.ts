import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
import { StatusError } from "../../api/status.ts";
import { applyMergePatch } from "./merge-patch.ts";

const plain = (value: JsonValue): unknown => JSON.parse(JSON.stringify(value));

describe("a merge patch", () => {
  // The examples of RFC 7386, appendix A, whose patch is an object.
  const cases: readonly [JsonValue, JsonValue, JsonValue][] = [
    [{ a: "b" }, { a: "c" }, { a: "c" }],
    [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
    [{ a: "b" }, { a: null }, {}],
    [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
    [{ a: ["b"] }, { a: "c" }, { a: "c" }],
    [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
    [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
    [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: "b", c: null }, { a: "b" }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ];
  test.each(cases)("%j with %j gives %j", (document, patch, expected) => {
    expect(plain(applyMergePatch(document, patch))).toEqual(expected as unknown as Record<string, unknown>);
  });

  test("that is null is a bad request", () => expect(() => applyMergePatch({}, null)).toThrow("Invalid JSON Patch"));

  test.each([[[]], ["text"], [1]] as [JsonValue][])("that is %j is a bad request", (patch) => {
    expect(() => applyMergePatch({}, patch)).toThrow(/^error decoding patch: /);
  });

  test("that nests too deep is a bad request", () => {
    let patch: JsonValue = {};
    for (let at = 0; at < 5_000; at++) patch = { a: patch };
    expect(() => applyMergePatch({}, patch)).toThrow(StatusError);
  });

  test("carries __proto__ as a plain key", () => {
    const patch = JSON.parse('{"__proto__":{"polluted":1}}') as JsonObject;
    expect(JSON.stringify(applyMergePatch({}, patch))).toBe('{"__proto__":{"polluted":1}}');
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
});

/** The merge patch that turns one document without nulls into another. */
function diff(from: JsonObject, to: JsonObject): JsonObject {
  const patch: JsonObject = Object.create(null);
  for (const key of Object.keys(from)) if (!Object.hasOwn(to, key)) patch[key] = null;
  for (const key of Object.keys(to)) {
    const [before, after] = [Object.hasOwn(from, key) ? from[key] : undefined, to[key] as JsonValue];
    patch[key] = isJsonObject(before) && isJsonObject(after) ? diff(before, after) : after;
  }
  return patch;
}

test("the difference of two documents, applied to the first, gives the second", () => {
  const { document } = fc.letrec((tie) => ({
    document: fc.dictionary(fc.string({ maxLength: 2 }), tie("value"), { maxKeys: 4, noNullPrototype: false }),
    value: fc.oneof({ maxDepth: 3 }, fc.integer(), fc.string(), fc.array(fc.integer()), tie("document")),
  }));
  fc.assert(
    fc.property(document, document, (from, to) => {
      const [before, after] = [from as JsonObject, to as JsonObject];
      const text = JSON.stringify(before);
      expect(plain(applyMergePatch(before, diff(before, after)))).toEqual(plain(after));
      expect(JSON.stringify(before)).toBe(text);
    }),
    { numRuns: 300 },
  );
});
