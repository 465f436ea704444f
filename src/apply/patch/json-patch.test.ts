import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { cpuMs } from "../../../test/cpu-time.ts";
import { cloneJson, type JsonObject, type JsonValue } from "../../api/json.ts";
import { StatusError } from "../../api/status.ts";
import { applyJsonPatch, jsonPatchOperationsMax } from "./json-patch.ts";

const plain = (value: JsonValue): unknown => JSON.parse(JSON.stringify(value));

function codeOf(run: () => unknown): number {
  try {
    run();
  } catch (error) {
    if (error instanceof StatusError) return error.code;
    throw error;
  }
  return 200;
}

describe("a JSON patch that applies", () => {
  const cases: readonly [string, JsonValue, JsonValue, unknown][] = [
    ["adds a key", { a: 1 }, [{ op: "add", path: "/b", value: 2 }], { a: 1, b: 2 }],
    ["adds at the end with -", { l: [1] }, [{ op: "add", path: "/l/-", value: 2 }], { l: [1, 2] }],
    ["inserts before an index", { l: [1, 3] }, [{ op: "add", path: "/l/1", value: 2 }], { l: [1, 2, 3] }],
    ["appends at index -1", { l: [1] }, [{ op: "add", path: "/l/-1", value: 2 }], { l: [1, 2] }],
    ["removes by a negative index", { l: [1, 2, 3] }, [{ op: "remove", path: "/l/-1" }], { l: [1, 2] }],
    ["replaces an item", { l: [1, 2] }, [{ op: "replace", path: "/l/0", value: 9 }], { l: [9, 2] }],
    ["replaces the whole document", { a: 1 }, [{ op: "replace", path: "", value: { b: 2 } }], { b: 2 }],
    ["adds null when the value is missing", {}, [{ op: "add", path: "/a" }], { a: null }],
    ["unescapes ~1 and ~0", {}, [{ op: "add", path: "/a~1b~0c~01", value: 1 }], { "a/b~c~1": 1 }],
    ["moves", { a: { b: 1 } }, [{ op: "move", from: "/a/b", path: "/c" }], { a: {}, c: 1 }],
    ["copies", { a: { b: 1 } }, [{ op: "copy", from: "/a", path: "/c" }], { a: { b: 1 }, c: { b: 1 } }],
    ["tests deeply", { a: [{ b: 1 }] }, [{ op: "test", path: "/a", value: [{ b: 1 }] }], { a: [{ b: 1 }] }],
    ["tests a missing key against null", {}, [{ op: "test", path: "/a", value: null }], {}],
    ["is empty", { a: 1 }, [], { a: 1 }],
  ];
  test.each(cases)("%s", (_, document, patch, expected) => {
    expect(plain(applyJsonPatch(document, patch))).toEqual(expected);
  });

  test("compares big integers by value", () => {
    const big = 9007199254740993n;
    expect(codeOf(() => applyJsonPatch({ a: big, b: 1 }, [{ op: "test", path: "/a", value: big }]))).toBe(200);
    expect(codeOf(() => applyJsonPatch({ a: 1 }, [{ op: "test", path: "/a", value: 1n }]))).toBe(200);
    expect(codeOf(() => applyJsonPatch({ a: big }, [{ op: "test", path: "/a", value: big - 1n }]))).toBe(422);
  });

  test("__proto__ is a key like any other", () => {
    const patched = applyJsonPatch({ a: {} }, [{ op: "add", path: "/a/__proto__", value: { polluted: 1 } }]);
    expect(JSON.stringify(patched)).toBe('{"a":{"__proto__":{"polluted":1}}}');
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  test("a copy shares nothing with what it copied", () => {
    const patch = [
      { op: "copy", from: "/a", path: "/b" },
      { op: "add", path: "/b/x", value: 1 },
    ];
    expect(plain(applyJsonPatch({ a: {} }, patch))).toEqual({ a: {}, b: { x: 1 } });
  });
});

test.each([
  [{}, "object"],
  ["x", "string"],
  [1, "number"],
  [true, "bool"],
])("%p gets an error that it is not a list", (patch, found) => {
  const text = `error decoding patch: json: cannot unmarshal ${found} into Go value of type []handlers.jsonPatchOp`;
  expect(() => applyJsonPatch({}, patch)).toThrow(text);
});

test("a replace adds a member that is not there, and a copy of one is null", () => {
  const patch = [
    { op: "replace", path: "/x", value: 1 },
    { op: "copy", from: "/constructor", path: "/b" },
  ];
  expect(applyJsonPatch({}, patch)).toEqual({ x: 1, b: null });
});

test("null is a list without operations", () => expect(applyJsonPatch({ a: 1 }, null)).toEqual({ a: 1 }));

describe("a JSON patch that fails", () => {
  const cases: readonly [string, JsonValue, number][] = [
    ["is no list", { op: "add" }, 400],
    ["holds something that is no object", [1], 400],
    ["has an unknown operation", [{ op: "merge", path: "/a" }], 422],
    ["has no path", [{ op: "add", value: 1 }], 422],
    ["has a path without a slash", [{ op: "add", path: "a", value: 1 }], 422],
    ["adds below a missing container", [{ op: "add", path: "/x/y", value: 1 }], 422],
    ["adds below a scalar", [{ op: "add", path: "/a/y", value: 1 }], 422],
    ["removes a missing key", [{ op: "remove", path: "/x" }], 422],
    ["replaces -", [{ op: "replace", path: "/l/-", value: 1 }], 422],
    ["uses an index past the end", [{ op: "add", path: "/l/3", value: 1 }], 422],
    ["uses an index of 2^53", [{ op: "add", path: "/l/9007199254740992", value: 1 }], 422],
    ["uses an index too far below zero", [{ op: "remove", path: "/l/-3" }], 422],
    ["tests another value", [{ op: "test", path: "/a", value: 2 }], 422],
    ["moves a container into its own child", [{ op: "move", from: "/o", path: "/o/p/q" }], 422],
    ["moves an inherited key", [{ op: "move", from: "/constructor", path: "/b" }], 422],
    ["walks through __proto__", [{ op: "add", path: "/__proto__/x", value: 1 }], 422],
  ];
  test.each(cases)("when it %s", (_, patch, code) => {
    expect(codeOf(() => applyJsonPatch({ a: 1, l: [1, 2], o: { p: {} } }, patch))).toBe(code);
  });

  test("more operations than allowed are too large an entity", () => {
    const operation = { op: "test", path: "/a", value: 1 };
    const patch = Array.from({ length: jsonPatchOperationsMax + 1 }, () => operation);
    expect(codeOf(() => applyJsonPatch({ a: 1 }, patch))).toBe(413);
    expect(codeOf(() => applyJsonPatch({ a: 1 }, patch.slice(1)))).toBe(200);
  });

  test("copies that double end at the copy limit", () => {
    const patch = Array.from({ length: 40 }, () => ({ op: "copy", from: "/a", path: "/a/-" }));
    expect(codeOf(() => applyJsonPatch({ a: ["x"] }, patch))).toBe(422);
  });

  test("depth is bounded however it is built", () => {
    const patch = Array.from({ length: 2_000 }, () => ({ op: "copy", from: "/a", path: "/a/a" }));
    const deeper = Array.from({ length: 20 }, (_, at) => ({ op: "copy", from: "/a", path: "/a".repeat(2 ** at + 1) }));
    expect(codeOf(() => applyJsonPatch({ a: {} }, [...patch, ...deeper]))).toBe(422);
  });
});

test("ten thousand insertions at the front of a list stay fast", () => {
  const patch = Array.from({ length: 10_000 }, (_, at) => ({ op: "add", path: "/l/0", value: at }));
  const started = cpuMs();
  const patched = applyJsonPatch({ l: [] }, patch) as JsonObject;
  expect((patched["l"] as JsonValue[]).length).toBe(10_000);
  expect(cpuMs() - started).toBeLessThan(500);
});

test("any patch gives a document or a StatusError and leaves its inputs alone", () => {
  const pointer = fc
    .array(fc.constantFrom("a", "b", "l", "0", "1", "-", "-1", "__proto__", "~0", "x/y"), { maxLength: 4 })
    .map((keys) => keys.map((key) => `/${key}`).join(""));
  const operation = fc.record(
    {
      op: fc.constantFrom("add", "remove", "replace", "move", "copy", "test", "other"),
      path: pointer,
      from: pointer,
      value: fc.jsonValue({ maxDepth: 2 }),
    },
    { requiredKeys: ["op"] },
  );
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 3 }), fc.array(operation, { maxLength: 6 }), (document, patch) => {
      const input = { a: { b: [1] }, l: [{}, 2], d: document as JsonValue } as JsonObject;
      const before = JSON.stringify(input);
      const patchBefore = JSON.stringify(patch);
      codeOf(() => applyJsonPatch(input, patch as unknown as JsonValue));
      expect(JSON.stringify(input)).toBe(before);
      expect(JSON.stringify(patch)).toBe(patchBefore);
    }),
    { numRuns: 300 },
  );
});

test("the result can be changed without changing the inputs", () => {
  const patch = [{ op: "add", path: "/a", value: { deep: [1] } }] as JsonValue;
  const before = cloneJson(patch);
  const patched = applyJsonPatch({}, patch) as { a: { deep: number[] } };
  patched.a.deep.push(2);
  expect(plain(patch)).toEqual(plain(before));
});

test("the result shares what no operation goes into", () => {
  const document: JsonObject = { touched: { list: [{ a: 1 }, { b: 2 }] }, other: { c: 3 } };
  const patch = [
    { op: "add", path: "/touched/list/0/d", value: 4 },
    { op: "test", path: "/other/c", value: 3 },
    { op: "move", from: "/touched/list/1", path: "/moved" },
    { op: "add", path: "/moved/e", value: 5 },
  ] as JsonValue;
  const patched = applyJsonPatch(document, patch) as JsonObject;
  expect(plain(patched)).toEqual({
    touched: { list: [{ a: 1, d: 4 }] },
    other: { c: 3 },
    moved: { b: 2, e: 5 },
  });
  expect(patched["other"]).toBe(document["other"] as JsonObject);
  expect(document).toEqual({ touched: { list: [{ a: 1 }, { b: 2 }] }, other: { c: 3 } });
});

test("a moved value is a copy, which its new place may change", () => {
  const shared = Object.freeze({ "f:a": Object.freeze({}) });
  const document = { metadata: { fields: shared }, spec: {} } as unknown as JsonObject;
  const patched = applyJsonPatch(document, [{ op: "move", from: "/metadata/fields", path: "/spec/moved" }]) as {
    spec: { moved: JsonObject };
  };
  expect(plain(patched as unknown as JsonValue)).toEqual({ metadata: {}, spec: { moved: { "f:a": {} } } });
  expect(patched.spec.moved).not.toBe(shared as JsonObject);
  expect(patched.spec.moved["f:a"]).not.toBe(shared["f:a"] as JsonObject);
});
