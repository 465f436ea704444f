import { expect, test } from "bun:test";
import type { JsonObject } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { runToEnd } from "../../api/testing.ts";
import { nonStructuralCondition } from "./non-structural-schema.ts";

function conditionOf(openAPIV3Schema: JsonObject, more: JsonObject = {}): unknown {
  const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }];
  const definition = { apiVersion: "v1", kind: "CustomResourceDefinition", metadata: {}, spec: { versions, ...more } };
  return runToEnd(nonStructuralCondition(definition as KubeObject)).result;
}

test("a structural schema has no such condition", () => {
  expect(conditionOf({ type: "object", properties: { a: { type: "string", pattern: "^a" } } })).toBeUndefined();
});

test("violations are joined", () => {
  expect(conditionOf({ type: "object", properties: { a: {} } }, { preserveUnknownFields: true })).toEqual({
    type: "NonStructuralSchema",
    status: "True",
    reason: "Violations",
    message:
      "[spec.preserveUnknownFields: Invalid value: true: must be false, spec.versions[0].schema.openAPIV3Schema.properties[a].type: Required value: must not be empty for specified object fields]",
  });
});

test("a schema that cannot be read as a structural one is named", () => {
  expect(conditionOf({ type: "object", $ref: "x" })).toEqual({
    type: "NonStructuralSchema",
    status: "Unknown",
    reason: "StructuralError",
    message: "failed to check validation schema for version v1: OpenAPIV3Schema '$ref' is not supported",
  });
});
