import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../api/json.ts";
import { samplePodSchema } from "../patch/sample-schema.ts";
import { compareObjects } from "./compare.ts";
import { fieldSetOf } from "./field-set-of.ts";
import { FieldSet } from "./field-set.ts";

function compareSpecs(old: JsonObject, fresh: JsonObject) {
  const { added, changed, removed } = compareObjects({ spec: old }, { spec: fresh }, samplePodSchema);
  const below = (set: FieldSet) => set.paths().map((path) => path.slice(1).join(" "));
  return { added: below(added), changed: below(changed), removed: below(removed) };
}

describe("the comparison of two objects", () => {
  const nothing: readonly string[] = [];
  const cases: readonly [string, JsonObject, JsonObject, object][] = [
    [
      "finds nothing in equal objects",
      { nodeName: "a", tolerations: [{ key: "k" }] },
      { tolerations: [{ key: "k" }], nodeName: "a" },
      {},
    ],
    ["finds a changed scalar", { nodeName: "a" }, { nodeName: "b" }, { changed: ["f:nodeName"] }],
    [
      "finds an added and a removed scalar",
      { nodeName: "a" },
      { hostNetwork: true },
      { added: ["f:hostNetwork"], removed: ["f:nodeName"] },
    ],
    ["counts an added map and its keys", {}, { overhead: { a: "1" } }, { added: ["f:overhead", "f:overhead f:a"] }],
    [
      "counts only the key added to a map",
      { overhead: { b: "" } },
      { overhead: { a: "1", b: "" } },
      { added: ["f:overhead f:a"] },
    ],
    ["takes an empty map for a leaf", {}, { overhead: {} }, { added: ["f:overhead"] }],
    [
      "takes an atomic map for a leaf",
      { nodeSelector: { a: "1" } },
      { nodeSelector: { a: "2" } },
      { changed: ["f:nodeSelector"] },
    ],
    [
      "takes an atomic list for a leaf",
      { tolerations: [] },
      { tolerations: [{ key: "a" }] },
      { changed: ["f:tolerations"] },
    ],
    [
      "takes an atomic struct for a leaf",
      { selector: { matchLabels: { a: "1" } } },
      { selector: { matchLabels: { a: "2" } } },
      { changed: ["f:selector"] },
    ],
    ["takes an absent struct for an empty one", {}, { strategy: { type: "x" } }, { added: ["f:strategy f:type"] }],
    ["sees no difference between an absent and an empty struct", {}, { strategy: {} }, {}],
    [
      "matches items by key",
      { containers: [{ name: "a", image: "1" }, { name: "b" }] },
      { containers: [{ name: "b" }, { name: "a", image: "2" }] },
      { changed: ['f:containers k:{"name":"a"} f:image'] },
    ],
    [
      "counts an added item with all its parts",
      { containers: [] },
      { containers: [{ name: "a" }] },
      { added: ['f:containers k:{"name":"a"}', 'f:containers k:{"name":"a"} f:name'] },
    ],
    [
      "fills key fields with their default",
      { containers: [{ name: "a", ports: [{ containerPort: 80 }] }] },
      { containers: [{ name: "a", ports: [{ containerPort: 80, protocol: "TCP" }] }] },
      { added: ['f:containers k:{"name":"a"} f:ports k:{"containerPort":80,"protocol":"TCP"} f:protocol'] },
    ],
    [
      "takes duplicates together",
      { containers: [{ name: "a" }] },
      { containers: [{ name: "a" }, { name: "a" }] },
      { changed: ['f:containers k:{"name":"a"}'] },
    ],
  ];
  test.each(cases)("%s", (_, old, fresh, expected) => {
    const actual: object = compareSpecs(old, fresh);
    expect(actual).toEqual({ added: nothing, changed: nothing, removed: nothing, ...expected });
  });

  test("does not look below ignored paths", () => {
    const ignored = FieldSet.of(["f:status"], ["f:spec", "f:nodeName"]);
    const fresh = { status: { phase: "x" }, spec: { nodeName: "a", hostNetwork: true } };
    expect(compareObjects({}, fresh, samplePodSchema, ignored).added.paths()).toEqual([["f:spec", "f:hostNetwork"]]);
  });
});

test("the fields that an object sets are its leaves, its items and its keys", () => {
  const object: JsonObject = {
    metadata: { labels: { app: "x" }, finalizers: ["a.io/b"] },
    spec: {
      containers: [{ name: "a", ports: [{ containerPort: 80 }], command: ["x"] }],
      selector: { matchLabels: { a: "b" } },
      strategy: {},
      nodeSelector: { a: "b" },
    },
  };
  expect(JSON.stringify(fieldSetOf(object, samplePodSchema).toFieldsV1())).toBe(
    JSON.stringify({
      "f:metadata": { "f:finalizers": { 'v:"a.io/b"': {} }, "f:labels": { "f:app": {} } },
      "f:spec": {
        "f:containers": {
          'k:{"name":"a"}': {
            ".": {},
            "f:command": {},
            "f:name": {},
            "f:ports": { 'k:{"containerPort":80,"protocol":"TCP"}': { ".": {}, "f:containerPort": {} } },
          },
        },
        "f:nodeSelector": {},
        "f:selector": {},
        "f:strategy": {},
      },
    }),
  );
});
