import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { cpuMs } from "../../../test/cpu-time.ts";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { StatusError } from "../../api/status.ts";
import { sample, samplePodSchema } from "./sample-schema.ts";
import { applyStrategicMergePatch } from "./strategic-merge-patch.ts";

const plain = (value: JsonValue): unknown => JSON.parse(JSON.stringify(value));
const patched = (spec: JsonObject, patch: JsonObject) =>
  (plain(applyStrategicMergePatch({ spec }, { spec: patch }, samplePodSchema)) as { spec: unknown }).spec;

describe("a strategic merge patch", () => {
  const a = { name: "a", image: "a:1" };
  const b = { name: "b", image: "b:1" };
  const c = { name: "c", image: "c:1" };
  const cases: readonly [string, JsonObject, JsonObject, JsonObject][] = [
    ["sets a field", { nodeName: "x" }, { nodeName: "y" }, { nodeName: "y" }],
    ["deletes with null", { nodeName: "x", hostNetwork: true }, { nodeName: null }, { hostNetwork: true }],
    ["ignores a null for a missing field", {}, { nodeName: null, overhead: { a: null } }, { overhead: {} }],
    [
      "merges maps",
      { overhead: { a: "1", b: "2" } },
      { overhead: { b: null, c: "3" } },
      { overhead: { a: "1", c: "3" } },
    ],
    [
      "merges an item by its key",
      { containers: [a, b] },
      { containers: [{ name: "b", image: "b:2" }] },
      { containers: [a, { name: "b", image: "b:2" }] },
    ],
    ["puts an unknown item first", { containers: [a, b] }, { containers: [c] }, { containers: [c, a, b] }],
    ["deletes an item", { containers: [a, b] }, { containers: [{ $patch: "delete", name: "a" }] }, { containers: [b] }],
    ["replaces a list", { containers: [a, b] }, { containers: [{ $patch: "replace" }, c] }, { containers: [c] }],
    ["empties a list", { containers: [a, b] }, { containers: [{ $patch: "replace" }] }, { containers: [] }],
    ["replaces a map", { overhead: { a: "1" } }, { overhead: { $patch: "replace", b: "2" } }, { overhead: { b: "2" } }],
    ["empties a map", { overhead: { a: "1" } }, { overhead: { $patch: "delete" } }, { overhead: {} }],
    [
      "drops a map with a directive where there is nothing to apply it to",
      {},
      { overhead: { $patch: "replace", b: "2" } },
      {},
    ],
    [
      "replaces a list without merge strategy",
      { tolerations: [{ key: "a" }] },
      { tolerations: [{ key: "b" }] },
      { tolerations: [{ key: "b" }] },
    ],
    [
      "orders a list",
      { containers: [a, b] },
      { "$setElementOrder/containers": [{ name: "b" }, { name: "a" }] },
      { containers: [b, a] },
    ],
    [
      "orders and merges a list",
      { containers: [a, b] },
      { "$setElementOrder/containers": [{ name: "a" }, { name: "c" }, { name: "b" }], containers: [c] },
      { containers: [a, c, b] },
    ],
    [
      "keeps items the order does not name",
      { containers: [a, b, c] },
      { "$setElementOrder/containers": [{ name: "c" }, { name: "b" }] },
      { containers: [a, c, b] },
    ],
    [
      "keeps only the retained keys",
      { strategy: { type: "Rolling", rolling: { x: "1" } } },
      { strategy: { $retainKeys: ["type"], type: "Recreate" } },
      { strategy: { type: "Recreate" } },
    ],
    [
      "retains keys in list items",
      { volumes: [{ name: "v", emptyDir: {} }] },
      { volumes: [{ name: "v", $retainKeys: ["name", "secret"], secret: "s" }] },
      { volumes: [{ name: "v", secret: "s" }] },
    ],
    [
      "keeps most directives of what is new, which the type then calls unknown",
      {},
      {
        containers: [
          { name: "a", $retainKeys: ["name"] },
          { name: "b", $patch: "merge" },
        ],
        overhead: { x: null },
      },
      { containers: [{ name: "a", $retainKeys: ["name"] }], overhead: {} },
    ],
    [
      "keeps nulls and directives of an item that is new in a list",
      { containers: [a] },
      { containers: [{ name: "b", image: null, env: [{ $patch: "delete", name: "e" }] }] },
      { containers: [{ name: "b", image: null, env: [{ $patch: "delete", name: "e" }] }, a] },
    ],
    [
      "keeps nulls and directives of a list that replaces another",
      { tolerations: [{ key: "a" }] },
      { tolerations: [{ key: "b", value: null }, { $patch: "delete" }] },
      { tolerations: [{ key: "b", value: null }, { $patch: "delete" }] },
    ],
    [
      "merges what a deletion of objects lists",
      { containers: [a, b] },
      { "$deleteFromPrimitiveList/containers": [{ name: "b", image: "b:2" }] },
      { containers: [a, { name: "b", image: "b:2" }] },
    ],
    [
      "deletes a field that a deletion list leaves null",
      { containers: [a] },
      { "$deleteFromPrimitiveList/containers": null },
      {},
    ],
    [
      "ignores a deletion list that is no list",
      { containers: [a] },
      { "$deleteFromPrimitiveList/containers": {} },
      { containers: [a] },
    ],
    [
      "merges nested lists",
      { containers: [{ ...a, ports: [{ containerPort: 80 }] }] },
      { containers: [{ name: "a", ports: [{ containerPort: 80, name: "http" }] }] },
      { containers: [{ ...a, ports: [{ containerPort: 80, name: "http" }] }] },
    ],
    ["replaces a value of another type", { overhead: { a: "1" } }, { overhead: "x" }, { overhead: "x" }],
  ];
  test.each(cases)("%s", (_, spec, patch, expected) => {
    expect(patched(spec, patch)).toEqual(expected);
  });

  test("merges a list of scalars as a set and deletes from it", () => {
    const meta = (finalizers: string[]): JsonObject => ({ metadata: { finalizers } });
    const apply = (patch: JsonObject) =>
      plain(applyStrategicMergePatch(meta(["a", "b"]), { metadata: patch }, samplePodSchema));
    expect(apply({ finalizers: ["b", "c"] })).toEqual(meta(["a", "b", "c"]));
    expect(apply({ "$deleteFromPrimitiveList/finalizers": ["a"] })).toEqual(meta(["b"]));
    expect(
      apply({
        "$deleteFromPrimitiveList/finalizers": ["a"],
        "$setElementOrder/finalizers": ["c", "b"],
        finalizers: ["c"],
      }),
    ).toEqual(meta(["c", "b"]));
  });

  test("__proto__ is a key like any other", () => {
    const patch = JSON.parse('{"spec":{"overhead":{"__proto__":{"polluted":"1"}}}}') as JsonObject;
    const document = { spec: { overhead: { a: "1" } } };
    const text = JSON.stringify(applyStrategicMergePatch(document, patch, samplePodSchema));
    expect(text).toBe('{"spec":{"overhead":{"a":"1","__proto__":{"polluted":"1"}}}}');
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
});

test("a list or an object in a map cannot be merged: the type of a map says nothing about its entries", () => {
  const documents: JsonObject = { volumes: { a: [1], b: { c: 1 } } };
  const lists = sample.struct("Lists", { volumes: sample.map(sample.list(sample.scalar("int32"))) });
  const text = "merging an object in json but data type is not struct, instead is: map";
  expect(() => applyStrategicMergePatch(documents, { volumes: { a: [2] } }, lists)).toThrow(text);
  expect(() => applyStrategicMergePatch(documents, { volumes: { b: { c: 2 } } }, lists)).toThrow(text);
  expect(plain(applyStrategicMergePatch(documents, { volumes: { d: [2] } }, lists))).toMatchObject({
    volumes: { d: [2] },
  });
});

describe("a strategic merge patch is refused", () => {
  const base: JsonObject = {
    containers: [{ name: "a" }],
    tolerations: [{ key: "a" }],
    strategy: { type: "x" },
    overhead: { a: "1" },
  };
  const cases: readonly [string, JsonObject, number][] = [
    ["with an unknown directive", { overhead: { $patch: "explode" } }, 500],
    ["with an unknown directive in a list", { containers: [{ $patch: 7, name: "a" }] }, 500],
    ["with an item without its merge key", { containers: [{ image: "x" }] }, 500],
    ["with a deletion without its merge key", { containers: [{ $patch: "delete" }] }, 500],
    ["with retained keys that are no list", { strategy: { $retainKeys: "type" } }, 400],
    ["with retained keys that miss a key", { strategy: { $retainKeys: ["type"], rolling: {} } }, 400],
    ["with an element order that is no list", { "$setElementOrder/containers": 1 }, 500],
    [
      "with an element order that misses an item",
      { "$setElementOrder/containers": [{ name: "a" }], containers: [{ name: "b" }] },
      500,
    ],
    [
      "with a directive after the last item of the element order",
      { "$setElementOrder/containers": [{ name: "a" }], containers: [{ name: "a" }, { $patch: "replace" }] },
      500,
    ],
    ["with lists among objects", { containers: [[1]] }, 500],
    ["with null among objects", { containers: [null] }, 500],
    ["with scalars among objects", { containers: ["a"] }, 500],
    ["with a deletion list without a field", { $deleteFromPrimitiveList: ["a"] }, 400],
    ["with an element order without a field", { "$setElementOrder-": ["a"] }, 400],
    ["with a deletion from objects without a merge key", { "$deleteFromPrimitiveList/tolerations": [{}] }, 500],
  ];
  test.each(cases)("%s", (_, patch, code) => {
    try {
      patched(base, patch);
    } catch (error) {
      expect(error).toBeInstanceOf(StatusError);
      expect((error as StatusError).code).toBe(code);
      return;
    }
    throw new Error("the patch was accepted");
  });
});

test("ten thousand items merge in linear time", () => {
  const items = (image: string) => Array.from({ length: 10_000 }, (_, at) => ({ name: `c${at}`, image }));
  const order = items("x").map(({ name }) => ({ name }));
  const started = cpuMs();
  const spec = patched({ containers: items("1") }, { containers: items("2"), "$setElementOrder/containers": order });
  expect((spec as { containers: unknown[] }).containers.length).toBe(10_000);
  expect(cpuMs() - started).toBeLessThan(1_000);
});

test("any patch gives a document or a StatusError and leaves its inputs alone", () => {
  const key = fc.constantFrom(
    ..."name image containers env ports $patch $retainKeys $setElementOrder/containers spec overhead".split(" "),
    "$deleteFromPrimitiveList/containers",
    "__proto__",
  );
  const { node } = fc.letrec((tie) => ({
    node: fc.dictionary(key, tie("value"), { maxKeys: 4 }),
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom("a", "b", "delete", "replace", "merge", null, 1),
      fc.array(tie("node"), { maxLength: 3 }),
      tie("node"),
    ),
  }));
  fc.assert(
    fc.property(node, node, (spec, patch) => {
      const [document, body] = [{ spec } as JsonObject, { spec: patch } as JsonObject];
      const before = JSON.stringify([document, body]);
      try {
        applyStrategicMergePatch(document, body, samplePodSchema);
      } catch (error) {
        expect(error).toBeInstanceOf(StatusError);
      }
      expect(JSON.stringify([document, body])).toBe(before);
    }),
    { numRuns: 500 },
  );
});
