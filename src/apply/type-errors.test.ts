import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../api/json.ts";
import { sample, sampleType } from "./sample-type.ts";
import { typeError } from "./type-errors.ts";

const cases: readonly [JsonObject, string | undefined][] = [
  [{ replicas: null, name: null, tags: null, labels: null, port: null }, undefined],
  [{ port: "http" }, undefined],
  [{ port: 80 }, undefined],
  [{ since: 5 }, undefined],
  [{ bogus: 1 }, ".spec.bogus: field not declared in schema"],
  [{ replicas: "3" }, ".spec.replicas: expected numeric (int or float), got string"],
  [{ replicas: [] }, ".spec.replicas: expected numeric (int or float), got []interface {}"],
  [{ name: 5 }, ".spec.name: expected string, got &value.valueUnstructured{Value:5}"],
  [
    { name: { a: ["x", null] } },
    '.spec.name: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"a":[]interface {}{"x", interface {}(nil)}}}',
  ],
  [{ paused: 1 }, ".spec.paused: expected boolean, got &{1}"],
  [{ since: {} }, ".spec.since: expected any scalar, got &{map[]}"],
  [{ tags: "x" }, ".spec.tags: expected list, got &{x}"],
  [{ labels: [1] }, ".spec.labels: expected map, got &{[1]}"],
  [{ labels: { a: 1 } }, ".spec.labels.a: expected string, got &value.valueUnstructured{Value:1}"],
  [{ tags: [{}] }, ".spec.tags: element 0: associative list without keys has an element that's a map type"],
  [{ tags: [null] }, ".spec.tags: element 0: associative list without keys has an element that's an explicit null"],
  [{ tags: [[]] }, ".spec.tags: element 0: not supported: associative list with lists as elements"],
  [{ parts: [null] }, ".spec.parts: element 0: associative list with keys may not have a null element"],
  [{ parts: ["a"] }, ".spec.parts: element 0: associative list with keys may not have non-map elements"],
  [
    { parts: [{ size: 1 }] },
    '.spec.parts: element 0: associative list with keys has an element that omits all key fields ["name"] (and doesn\'t have default values for any key fields)',
  ],
  [{ tags: ["a", "a"] }, '.spec.tags: duplicate entries for key [="a"]'],
  [
    { ports: [{ port: 1 }, { port: 1, protocol: "TCP" }] },
    '.spec.ports: duplicate entries for key [port=1,protocol="TCP"]',
  ],
  [{ plain: ["a", 1] }, ".spec.plain[1]: expected string, got &value.valueUnstructured{Value:1}"],
  [
    { name: 5, paused: 5 },
    "errors:\n  .spec.name: expected string, got &value.valueUnstructured{Value:5}\n  .spec.paused: expected boolean, got &{5}",
  ],
];

describe("a body", () => {
  for (const [spec, problem] of cases) {
    test(`${JSON.stringify(spec)} is ${problem === undefined ? "right" : "wrong"}`, () => {
      expect(typeError(sample(spec), sampleType, { allowsDuplicates: false })).toBe(problem as string);
    });
  }
});

test("a live object may hold duplicates", () => {
  expect(typeError(sample({ tags: ["a", "a"] }), sampleType, { allowsDuplicates: true })).toBeUndefined();
});
