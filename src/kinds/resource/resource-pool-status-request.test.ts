import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal, updateRefusal } from "../testing.ts";

const path = "resource.k8s.io/v1alpha3/resourcepoolstatusrequests";
const minimal: JsonObject = { spec: { driver: "gpu.example.com" } };
const rich: JsonObject = { spec: { driver: "gpu.example.com", poolName: "rack-1/node-1", limit: 5 } };

test.each([
  ["little", minimal],
  ["everything", rich],
])("a ResourcePoolStatusRequest with %s is accepted", async (_, object) => {
  expect(await refusal(path, object)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  ["spec.driver", "", ["spec.driver: Required value"]],
  [
    "spec.driver",
    "a b",
    [
      "spec.driver: Invalid value: \"a b\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  [
    "spec.poolName",
    "A",
    [
      "spec.poolName: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  ["spec.limit", 0, ["spec.limit: Invalid value: 0: must be greater than or equal to 1"]],
  ["spec.limit", 1001, ["spec.limit: Invalid value: 1001: must be less than or equal to 1000"]],
])("a ResourcePoolStatusRequest with %s = %j is refused", async (field, value, causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  [
    "spec.limit",
    6,
    ['spec: Invalid value: {"driver":"gpu.example.com","poolName":"rack-1/node-1","limit":6}: field is immutable'],
  ],
])("an update that makes %s = %j gets the expected answer", async (field, value, causes) => {
  expect(await updateRefusal(path, rich, changed(rich, field, value))).toEqual(causes);
});
