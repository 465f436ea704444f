import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal, updateRefusal } from "../testing.ts";

const path = "storage.k8s.io/v1/csistoragecapacities";
const minimal: JsonObject = { storageClassName: "fast" };
const rich: JsonObject = {
  storageClassName: "fast",
  nodeTopology: { matchLabels: { zone: "a" } },
  capacity: "10Gi",
  maximumVolumeSize: "1Gi",
};

test.each([
  ["little", minimal],
  ["everything", rich],
])("a CSIStorageCapacity with %s is accepted", async (_, object) => {
  expect(await refusal(path, object)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  [
    "storageClassName",
    undefined,
    [
      "storageClassName: Invalid value: \"\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  [
    "storageClassName",
    "Fast",
    [
      "storageClassName: Invalid value: \"Fast\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  [
    "nodeTopology",
    { matchExpressions: [{ key: "a", operator: "Near" }] },
    ['nodeTopology.matchExpressions[0].operator: Invalid value: "Near": not a valid selector operator'],
  ],
  ["capacity", "-1", ['capacity: Invalid value: "-1": must be greater than or equal to 0']],
])("a CSIStorageCapacity with %s = %j is refused", async (field, value, causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  ["storageClassName", "slow", ['storageClassName: Invalid value: "slow": field is immutable']],
  [
    "nodeTopology",
    { matchLabels: { zone: "b" } },
    ['nodeTopology: Invalid value: {"matchLabels":{"zone":"b"}}: field is immutable'],
  ],
  ["capacity", "5Gi", []],
])("an update that makes %s = %j gets the expected answer", async (field, value, causes) => {
  expect(await updateRefusal(path, rich, changed(rich, field, value))).toEqual(causes);
});
