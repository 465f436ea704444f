import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal, updateRefusal } from "../testing.ts";

const path = "storagemigration.k8s.io/v1beta1/storageversionmigrations";
const minimal: JsonObject = { spec: { resource: { group: "apps", resource: "deployments" } } };
const rich: JsonObject = { spec: { resource: { group: "", resource: "configmaps" } } };

test.each([
  ["little", minimal],
  ["everything", rich],
])("a StorageVersionMigration with %s is accepted", async (_, object) => {
  expect(await refusal(path, object)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  ["spec.resource", undefined, ["spec.resource.resource: Required value: resource is required"]],
  ["spec.resource.resource", "", ["spec.resource.resource: Required value: resource is required"]],
])("a StorageVersionMigration with %s = %j is refused", async (field, value, causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  ["spec.resource.resource", "secrets", ['resource: Invalid value: "secrets": field is immutable']],
])("an update that makes %s = %j gets the expected answer", async (field, value, causes) => {
  expect(await updateRefusal(path, rich, changed(rich, field, value))).toEqual(causes);
});
