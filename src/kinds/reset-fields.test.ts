import { expect, test } from "bun:test";
import { readStoredFields } from "../apply/fields-v1.ts";
import { ownedFieldsOf } from "./reset-fields.ts";

const fields = readStoredFields({
  "f:metadata": { "f:labels": { "f:a": {} }, "f:ownerReferences": {} },
  "f:spec": { "f:ephemeralContainers": {}, "f:replicas": {} },
  "f:status": { "f:conditions": {} },
});

test.each([
  ["apps", "deployments", "", ["f:metadata", "f:spec"]],
  ["apps", "deployments", "status", ["f:metadata", "f:status"]],
  ["resource.k8s.io", "resourceclaims", "status", ["f:status"]],
  ["", "namespaces", "finalize", ["f:metadata", "f:spec"]],
])("writers of %s/%s/%s own %j", (group, resource, subresource, owned) => {
  const filter = ownedFieldsOf({ group, resource }, subresource, true);
  expect(Object.keys(filter?.(fields).toDocument() ?? {})).toEqual(owned);
});

test.each(["ephemeralcontainers", "resize"])("writers of pods/%s own all that they send", (subresource) => {
  expect(ownedFieldsOf({ group: "", resource: "pods" }, subresource, true)).toBeUndefined();
});

test("writers of the status of a custom kind own no metadata", () => {
  const gadgets = { group: "example.com", resource: "gadgets", form: { kind: "structural" } } as const;
  expect(Object.keys(ownedFieldsOf(gadgets, "status", true)?.(fields).toDocument() ?? {})).toEqual(["f:status"]);
});

test("writers of a kind without a status subresource own every field", () => {
  expect(ownedFieldsOf({ group: "", resource: "configmaps" }, "", false)).toBeUndefined();
});
