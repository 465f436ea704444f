import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal, updateRefusal } from "../testing.ts";

const path = "v1/persistentvolumes";
const minimal: JsonObject = {
  spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/data" } },
};
const rich: JsonObject = {
  spec: {
    capacity: { storage: "10Gi" },
    accessModes: ["ReadWriteOnce", "ReadOnlyMany"],
    persistentVolumeReclaimPolicy: "Retain",
    storageClassName: "fast",
    mountOptions: ["ro"],
    volumeMode: "Filesystem",
    csi: {
      driver: "disk.example.com",
      volumeHandle: "v-1",
      fsType: "ext4",
      volumeAttributes: { a: "b" },
      nodePublishSecretRef: { name: "s", namespace: "n" },
    },
    nodeAffinity: {
      required: { nodeSelectorTerms: [{ matchExpressions: [{ key: "zone", operator: "In", values: ["a"] }] }] },
    },
  },
};

test.each([
  ["little", minimal],
  ["everything", rich],
])("a PersistentVolume with %s is accepted", async (_, object) => {
  expect(await refusal(path, object)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  ["spec.accessModes", [], ["spec.accessModes: Required value"]],
  [
    "spec.accessModes",
    ["ReadTwice"],
    [
      'spec.accessModes: Unsupported value: "ReadTwice": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
    ],
  ],
  [
    "spec.accessModes",
    ["ReadWriteOncePod", "ReadWriteOnce"],
    ["spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes"],
  ],
  [
    "spec.capacity",
    {},
    ["spec.capacity: Required value", 'spec.capacity: Unsupported value: {}: supported values: "storage"'],
  ],
  [
    "spec.capacity",
    { storage: "1Gi", cpu: "1" },
    ['spec.capacity: Unsupported value: {"cpu":"1","storage":"1Gi"}: supported values: "storage"'],
  ],
  [
    "spec.capacity.storage",
    "-1500m",
    [
      "spec.capacity[storage]: Invalid value: -2: must be a valid resource quantity",
      'spec.capacity[storage]: Invalid value: "-1500m": must be greater than zero',
    ],
  ],
  ["spec.capacity.storage", "0", ['spec.capacity[storage]: Invalid value: "0": must be greater than zero']],
  [
    "spec.persistentVolumeReclaimPolicy",
    "Keep",
    ['spec.persistentVolumeReclaimPolicy: Unsupported value: "Keep": supported values: "Delete", "Recycle", "Retain"'],
  ],
  ["spec.csi", undefined, ["spec: Required value: must specify a volume type"]],
  ["spec.hostPath", { path: "/data" }, ["spec.csi: Forbidden: may not specify more than 1 volume type"]],
  [
    "spec.csi.driver",
    "a b",
    [
      "spec.csi.driver: Invalid value: \"a b\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  ["spec.csi.volumeHandle", "", ["spec.csi.volumeHandle: Required value"]],
  [
    "spec.csi.nodePublishSecretRef",
    { name: "", namespace: "A" },
    [
      "spec.csi.nodePublishSecretRef.name: Required value",
      "spec.csi.nodePublishSecretRef.namespace: Invalid value: \"A\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    ],
  ],
  [
    "spec.nodeAffinity.required.nodeSelectorTerms",
    [],
    ["spec.nodeAffinity.required.nodeSelectorTerms: Required value: must have at least one node selector term"],
  ],
  [
    "spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].operator",
    "Near",
    [
      'spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].operator: Invalid value: "Near": not a valid selector operator',
    ],
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
    "spec.volumeAttributesClassName",
    "",
    ["spec.volumeAttributesClassName: Required value: an empty string is disallowed"],
  ],
])("a PersistentVolume with %s = %j is refused", async (field, value, causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  [
    "spec.csi.volumeHandle",
    "v-2",
    ["spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation"],
  ],
  ["spec.volumeMode", "Block", ['volumeMode: Invalid value: "Block": field is immutable']],
  ["spec.capacity.storage", "20Gi", []],
  [
    "spec.nodeAffinity",
    undefined,
    ["nodeAffinity: Invalid value: null: field is immutable, except for updating from beta label to GA"],
  ],
  ["spec.persistentVolumeReclaimPolicy", "Delete", []],
  ["spec.claimRef", { name: "c", namespace: "n" }, []],
])("an update that makes %s = %j gets the expected answer", async (field, value, causes) => {
  expect(await updateRefusal(path, rich, changed(rich, field, value))).toEqual(causes);
});

test("an update with a mistake in its spec gets it twice", async () => {
  const causes = ["spec.capacity: Required value", 'spec.capacity: Unsupported value: {}: supported values: "storage"'];
  const errors = await updateRefusal(path, minimal, changed(minimal, "spec.capacity", {}));
  expect(errors.toSorted()).toEqual([...causes, ...causes].toSorted());
});
