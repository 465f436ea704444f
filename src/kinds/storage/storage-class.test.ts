import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal, updateRefusal } from "../testing.ts";

const path = "storage.k8s.io/v1/storageclasses";
const minimal: JsonObject = { provisioner: "example.com/disk" };
const rich: JsonObject = {
  provisioner: "example.com/disk",
  parameters: { type: "ssd" },
  reclaimPolicy: "Retain",
  mountOptions: ["ro"],
  allowVolumeExpansion: true,
  volumeBindingMode: "WaitForFirstConsumer",
  allowedTopologies: [{ matchLabelExpressions: [{ key: "topology.kubernetes.io/zone", values: ["a", "b"] }] }],
};

test.each([
  ["little", minimal],
  ["everything", rich],
])("a StorageClass with %s is accepted", async (_, object) => {
  expect(await refusal(path, object)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  ["provisioner", undefined, ["provisioner: Required value"]],
  [
    "provisioner",
    "a b",
    [
      "provisioner: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ],
  ],
  ["parameters", { "": "x" }, ['parameters: Invalid value: "": field can not be empty.']],
  ["reclaimPolicy", "Recycle", ['reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain"']],
  [
    "volumeBindingMode",
    "Later",
    ['volumeBindingMode: Unsupported value: "Later": supported values: "Immediate", "WaitForFirstConsumer"'],
  ],
  [
    "volumeBindingMode",
    "",
    ['volumeBindingMode: Unsupported value: "": supported values: "Immediate", "WaitForFirstConsumer"'],
  ],
  ["allowedTopologies", [{}], ['allowedTopologies[0].matchLabelExpressions: Duplicate value: ""']],
  [
    "allowedTopologies[0].matchLabelExpressions[0].values",
    [],
    ["allowedTopologies[0].matchLabelExpressions[0].values: Required value"],
  ],
  [
    "allowedTopologies[0].matchLabelExpressions[0].values",
    ["a", "a"],
    ['allowedTopologies[0].matchLabelExpressions[0].values[1]: Duplicate value: "a"'],
  ],
  [
    "allowedTopologies[0].matchLabelExpressions[0].key",
    "a b",
    [
      "allowedTopologies[0].matchLabelExpressions[0].key: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ],
  ],
  [
    "allowedTopologies[0].matchLabelExpressions[1]",
    { key: "topology.kubernetes.io/zone", values: ["c"] },
    ['allowedTopologies[0].matchLabelExpressions[1].key: Duplicate value: "topology.kubernetes.io/zone"'],
  ],
])("a StorageClass with %s = %j is refused", async (field, value, causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  ["provisioner", "example.com/other", ['provisioner: Invalid value: "example.com/other": field is immutable']],
  ["parameters.type", "hdd", ['parameters: Invalid value: {"type":"hdd"}: field is immutable']],
  ["reclaimPolicy", "Delete", ['reclaimPolicy: Invalid value: "Delete": field is immutable']],
  ["volumeBindingMode", "Immediate", ['volumeBindingMode: Invalid value: "Immediate": field is immutable']],
  ["allowVolumeExpansion", false, []],
  ["mountOptions", [], []],
])("an update that makes %s = %j gets the expected answer", async (field, value, causes) => {
  expect(await updateRefusal(path, rich, changed(rich, field, value))).toEqual(causes);
});
