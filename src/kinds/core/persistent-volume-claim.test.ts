import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, created, refusal, updateRefusal } from "../testing.ts";

const path = "v1/persistentvolumeclaims";
const minimal: JsonObject = { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } };
const rich: JsonObject = {
  spec: {
    accessModes: ["ReadWriteOnce"],
    resources: { requests: { storage: "10Gi" }, limits: { storage: "20Gi" } },
    storageClassName: "fast",
    volumeMode: "Block",
    selector: { matchLabels: { tier: "db" } },
    dataSource: { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "s" },
  },
};

test.each([
  ["little", minimal],
  ["everything", rich],
])("a PersistentVolumeClaim with %s is accepted", async (_, object) => {
  expect(await refusal(path, object)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  ["spec.accessModes", undefined, ["spec.accessModes: Required value: at least 1 access mode is required"]],
  [
    "spec.accessModes",
    ["Twice"],
    [
      'spec.accessModes: Unsupported value: "Twice": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
    ],
  ],
  [
    "spec.accessModes",
    ["ReadWriteOncePod", "ReadWriteOnce"],
    ["spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes"],
  ],
  ["spec.resources", {}, ["spec.resources[storage]: Required value"]],
  ["spec.resources.requests.storage", "0", ['spec.resources[storage]: Invalid value: "0": must be greater than zero']],
  [
    "spec.resources.requests.storage",
    "-1",
    ['spec.resources[storage]: Invalid value: "-1": must be greater than zero'],
  ],
  [
    "spec.selector",
    { matchExpressions: [{ key: "a", operator: "Is" }] },
    ['spec.selector.matchExpressions[0].operator: Invalid value: "Is": not a valid selector operator'],
  ],
  [
    "spec.storageClassName",
    "Fast",
    [
      "spec.storageClassName: Invalid value: \"Fast\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  ["spec.volumeMode", "Tape", ['spec.volumeMode: Unsupported value: "Tape": supported values: "Block", "Filesystem"']],
  [
    "spec.dataSource",
    { kind: "PersistentVolumeClaim", name: "" },
    ["spec.dataSource.name: Required value", "spec.dataSourceRef.name: Required value"],
  ],
  [
    "spec.dataSourceRef",
    { kind: "PersistentVolumeClaim", name: "x" },
    ["spec: Invalid value: {}: must match dataSourceRef"],
  ],
  [
    "spec.volumeAttributesClassName",
    "Gold!",
    [
      "spec.volumeAttributesClassName: Invalid value: \"Gold!\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
])("a PersistentVolumeClaim with %s = %j is refused", async (field, value, causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  [
    "spec.accessModes",
    ["ReadOnlyMany"],
    [
      "spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims",
    ],
  ],
  [
    "spec.resources.requests.storage",
    "5Gi",
    [
      "spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims",
    ],
  ],
  [
    "spec.resources.requests.storage",
    "12Gi",
    [
      "spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims",
    ],
  ],
  [
    "spec.storageClassName",
    "slow",
    [
      "spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims",
    ],
  ],
  [
    "spec.volumeMode",
    "Filesystem",
    [
      "spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims",
      'volumeMode: Invalid value: "Filesystem": field is immutable',
    ],
  ],
  ["spec.volumeName", "v", []],
])("an update that makes %s = %j gets the expected answer", async (field, value, causes) => {
  expect(await updateRefusal(path, rich, changed(rich, field, value))).toEqual(causes);
});

test("the older field for a source ignores what is neither a claim nor a snapshot", async () => {
  const pod = { kind: "Pod", name: "x" };
  const { spec } = await created(path, changed(minimal, "spec.dataSource", pod));
  expect(spec).not.toHaveProperty("dataSource");
  const text = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
  expect(await refusal(path, changed(minimal, "spec.dataSourceRef", pod))).toEqual([
    `spec.dataSource: Invalid value: "Pod": ${text}`,
    `spec.dataSourceRef: Invalid value: "Pod": ${text}`,
  ]);
});

test("both fields for a source show the same, unless it is in another namespace", async () => {
  const other = { kind: "PersistentVolumeClaim", name: "x" };
  for (const field of ["dataSource", "dataSourceRef"]) {
    const { spec } = await created(path, changed(minimal, `spec.${field}`, other));
    expect(spec).toMatchObject({ dataSource: other, dataSourceRef: other });
  }
  const foreign = { ...other, namespace: "m" };
  const { spec } = await created(path, changed(minimal, "spec.dataSourceRef", foreign));
  expect(spec).not.toHaveProperty("dataSource");
});
