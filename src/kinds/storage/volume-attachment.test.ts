import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal, updateRefusal } from "../testing.ts";

const path = "storage.k8s.io/v1/volumeattachments";
const minimal: JsonObject = {
  spec: { attacher: "disk.example.com", nodeName: "node-1", source: { persistentVolumeName: "pv-1" } },
};
const rich: JsonObject = {
  spec: {
    attacher: "disk.example.com",
    nodeName: "node-1",
    source: {
      inlineVolumeSpec: { accessModes: ["ReadWriteOnce"], csi: { driver: "disk.example.com", volumeHandle: "v" } },
    },
  },
};

test.each([
  ["little", minimal],
  ["everything", rich],
])("a VolumeAttachment with %s is accepted", async (_, object) => {
  expect(await refusal(path, object)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  ["spec.attacher", undefined, ["spec.attacher: Required value"]],
  [
    "spec.attacher",
    "a b",
    [
      "spec.attacher: Invalid value: \"a b\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  [
    "spec.nodeName",
    undefined,
    [
      "spec.nodeName: Invalid value: \"\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  [
    "spec.nodeName",
    "Node",
    [
      "spec.nodeName: Invalid value: \"Node\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  [
    "spec.source",
    {},
    ["spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName"],
  ],
  [
    "spec.source.persistentVolumeName",
    "pv",
    ["spec.source: Forbidden: must specify exactly one of inlineVolumeSpec and persistentVolumeName"],
  ],
  [
    "spec.source.inlineVolumeSpec.csi",
    { driver: "disk.example.com", volumeHandle: "" },
    ["spec.source.inlineVolumeSpec.csi.volumeHandle: Required value"],
  ],
  ["spec.source.inlineVolumeSpec.accessModes", [], ["spec.source.inlineVolumeSpec.accessModes: Required value"]],
])("a VolumeAttachment with %s = %j is refused", async (field, value, causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  [
    "spec.nodeName",
    "node-2",
    [
      'spec: Invalid value: {"Attacher":"disk.example.com","Source":{"PersistentVolumeName":null,"InlineVolumeSpec":{"Capacity":null,"GCEPersistentDisk":null,"AWSElasticBlockStore":null,"HostPath":null,"Glusterfs":null,"NFS":null,"RBD":null,"Quobyte":null,"ISCSI":null,"FlexVolume":null,"Cinder":null,"CephFS":null,"FC":null,"Flocker":null,"AzureFile":null,"VsphereVolume":null,"AzureDisk":null,"PhotonPersistentDisk":null,"PortworxVolume":null,"ScaleIO":null,"Local":null,"StorageOS":null,"CSI":{"Driver":"disk.example.com","VolumeHandle":"v","ReadOnly":false,"FSType":"","VolumeAttributes":null,"ControllerPublishSecretRef":null,"NodeStageSecretRef":null,"NodePublishSecretRef":null,"ControllerExpandSecretRef":null,"NodeExpandSecretRef":null},"AccessModes":["ReadWriteOnce"],"ClaimRef":null,"PersistentVolumeReclaimPolicy":"","StorageClassName":"","MountOptions":null,"VolumeMode":null,"NodeAffinity":null,"VolumeAttributesClassName":null}},"NodeName":"node-2"}: field is immutable',
    ],
  ],
])("an update that makes %s = %j gets the expected answer", async (field, value, causes) => {
  expect(await updateRefusal(path, rich, changed(rich, field, value))).toEqual(causes);
});

test("an update of the status looks at the generated name as well", async () => {
  const named = { ...rich, metadata: { generateName: "a/b" } };
  expect(await updateRefusal(path, rich, named, "status")).toHaveLength(2);
});
