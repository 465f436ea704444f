import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal } from "../testing.ts";

const path = "internal.apiserver.k8s.io/v1alpha1/storageversions";
const minimal: JsonObject = { metadata: { name: "apps.deployments" }, spec: {} };
const rich: JsonObject = { metadata: { name: "apps.deployments" }, spec: {} };

test.each([
  ["little", minimal],
  ["everything", rich],
])("a StorageVersion with %s is accepted", async (_, object) => {
  expect(await refusal(path, object)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  [
    "metadata.name",
    "deployments",
    ['metadata.name: Invalid value: "deployments": name must be in the form of <group>.<resource>'],
  ],
  [
    "metadata.name",
    "Apps.deployments",
    [
      "metadata.name: Invalid value: \"Apps.deployments\": the group segment a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
])("a StorageVersion with %s = %j is refused", async (field, value, causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});
