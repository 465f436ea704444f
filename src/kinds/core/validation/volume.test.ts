import { expect, test } from "bun:test";
import type { JsonObject } from "../../../api/json.ts";
import { refusal } from "../../testing.ts";

const label =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const partition = "must be between 1 and 255, inclusive";

/** The causes for which a pod with these volumes is refused. */
function refusalOf(...volumes: JsonObject[]): Promise<string[]> {
  return refusal("v1/pods", { spec: { containers: [{ name: "c", image: "i" }], volumes } });
}

test.each<[source: string, value: JsonObject]>([
  ["emptyDir", { medium: "Memory", sizeLimit: "1Gi" }],
  ["hostPath", { path: "/a", type: "DirectoryOrCreate" }],
  ["gcePersistentDisk", { pdName: "a", partition: 1 }],
  ["awsElasticBlockStore", { volumeID: "a" }],
  ["gitRepo", { repository: "a", directory: "b" }],
  ["secret", { secretName: "a", defaultMode: 0o777, items: [{ key: "a", path: "b/c", mode: 0 }] }],
  ["nfs", { server: "a", path: "/a" }],
  ["iscsi", { targetPortal: "a", iqn: "iqn.2001-04.com.example:storage", lun: 0 }],
  ["glusterfs", { endpoints: "a", path: "b" }],
  ["persistentVolumeClaim", { claimName: "a" }],
  ["rbd", { monitors: ["a"], image: "b" }],
  ["flexVolume", { driver: "a/b", options: { a: "b" } }],
  ["cinder", { volumeID: "a" }],
  ["cephfs", { monitors: ["a"] }],
  ["flocker", { datasetName: "a" }],
  ["downwardAPI", { items: [{ path: "a", fieldRef: { fieldPath: "metadata.annotations['a']" } }] }],
  ["fc", { targetWWNs: ["a"], lun: 0 }],
  ["azureFile", { secretName: "a", shareName: "b" }],
  ["configMap", { name: "a", items: [{ key: "a", path: "b" }], optional: true }],
  ["vsphereVolume", { volumePath: "a" }],
  ["quobyte", { registry: "a:1,b:2", volume: "c" }],
  ["azureDisk", { diskName: "a", diskURI: "https://a/b.vhd" }],
  ["photonPersistentDisk", { pdID: "a" }],
  [
    "projected",
    {
      sources: [
        { secret: { name: "a" } },
        { configMap: { name: "a", items: [{ key: "b", path: "b" }] } },
        { downwardAPI: { items: [{ path: "c", resourceFieldRef: { containerName: "c", resource: "limits.cpu" } }] } },
        { clusterTrustBundle: { signerName: "example.com/a", labelSelector: {}, path: "roots" } },
      ],
    },
  ],
  ["portworxVolume", { volumeID: "a" }],
  ["scaleIO", { gateway: "a", system: "b", volumeName: "c", secretRef: { name: "d" } }],
  ["storageos", { volumeName: "a" }],
  ["csi", { driver: "csi.example.com", nodePublishSecretRef: { name: "a" } }],
  [
    "ephemeral",
    {
      volumeClaimTemplate: {
        metadata: { labels: { a: "b" } },
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
      },
    },
  ],
  ["image", { reference: "a:1" }],
])("a volume of %s %j is accepted", async (source, value) => {
  expect(await refusalOf({ name: "v", [source]: value })).toEqual([]);
});

test.each<[source: string, value: JsonObject, ...causes: string[]]>([
  ["emptyDir", { sizeLimit: "-1" }, ".sizeLimit: Forbidden: SizeLimit field must be a valid resource quantity"],
  ["hostPath", {}, ".path: Required value"],
  ["hostPath", { path: "/a/../b" }, ".path: Invalid value: \"/a/../b\": must not contain '..'"],
  [
    "hostPath",
    { path: "/a", type: "Any" },
    '.type: Unsupported value: "Any": supported values: "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"',
  ],
  [
    "gitRepo",
    { directory: "/a" },
    ".repository: Required value",
    '.directory: Invalid value: "/a": must be a relative path',
  ],
  [
    "awsElasticBlockStore",
    { partition: -1 },
    ".volumeID: Required value",
    `.partition: Invalid value: -1: ${partition}`,
  ],
  ["secret", {}, ".secretName: Required value"],
  [
    "secret",
    { secretName: "a", defaultMode: 512 },
    ".defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive",
  ],
  ["secret", { secretName: "a", items: [{}] }, ".items[0].key: Required value", ".items[0].path: Required value"],
  [
    "secret",
    { secretName: "a", items: [{ key: "a", path: "../b", mode: -1 }] },
    ".items[0].path: Invalid value: \"../b\": must not contain '..'",
    ".items[0].mode: Invalid value: -1: must be a number between 0 and 0777 (octal), both inclusive",
  ],
  ["nfs", { path: "a" }, ".server: Required value", '.path: Invalid value: "a": must be an absolute path'],
  [
    "iscsi",
    { iqn: "a" },
    ".targetPortal: Required value",
    '.iqn: Invalid value: "a": must be valid format starting with iqn, eui, or naa',
  ],
  [
    "iscsi",
    { targetPortal: "a", iqn: "iqn.2001-04.com.example:storage", lun: 256, chapAuthSession: true },
    ".lun: Invalid value: 256: must be between 0 and 255, inclusive",
    ".secretRef: Required value",
  ],
  ["glusterfs", {}, ".endpoints: Required value", ".path: Required value"],
  ["persistentVolumeClaim", {}, ".claimName: Required value"],
  ["rbd", {}, ".monitors: Required value", ".image: Required value"],
  ["cephfs", {}, ".monitors: Required value"],
  ["cinder", { secretRef: {} }, ".volumeID: Required value", ".secretRef.name: Required value"],
  ["flocker", {}, ": Required value: one of datasetName and datasetUUID is required"],
  [
    "quobyte",
    {},
    ".registry: Required value: must be a host:port pair or multiple pairs separated by commas",
    ".volume: Required value",
  ],
  [
    "fc",
    { wwids: ["a"], targetWWNs: ["b"] },
    '.targetWWNs: Invalid value: ["b"]: targetWWNs and wwids can not be specified simultaneously',
    ".lun: Required value: lun is required if targetWWNs is specified",
  ],
  [
    "flexVolume",
    { options: { "a.k8s.io/b": "c" } },
    ".driver: Required value",
    '.options[a.k8s.io/b]: Invalid value: "a.k8s.io/b": kubernetes.io and k8s.io namespaces are reserved',
  ],
  ["azureFile", {}, ".secretName: Required value", ".shareName: Required value"],
  [
    "azureDisk",
    { diskName: "a", diskURI: "a", cachingMode: "Some", kind: "Managed" },
    '.cachingMode: Unsupported value: "Some": supported values: "None", "ReadOnly", "ReadWrite"',
    '.diskURI: Unsupported value: "a": supported values: "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"',
  ],
  ["storageos", { volumeName: "A" }, `.volumeName: Invalid value: "A": ${label}`],
  [
    "scaleIO",
    { secretRef: { name: "a" } },
    ".gateway: Required value",
    ".system: Required value",
    ".volumeName: Required value",
  ],
  ["csi", {}, ".driver: Required value"],
  ["csi", { driver: "csi.example.com", nodePublishSecretRef: {} }, ".nodePublishSecretRef.name: Required value"],
  [
    "downwardAPI",
    { items: [{ path: "/a" }] },
    '.path: Invalid value: "/a": must be a relative path',
    ": Required value: one of fieldRef and resourceFieldRef is required",
  ],
  [
    "downwardAPI",
    { items: [{ path: "a", fieldRef: { fieldPath: "spec.nodeName" } }] },
    '.fieldRef.fieldPath: Unsupported value: "spec.nodeName": supported values: "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"',
  ],
  [
    "downwardAPI",
    { items: [{ path: "a", resourceFieldRef: { resource: "limits.cpu" } }] },
    ".resourceFieldRef.containerName: Required value",
  ],
  [
    "projected",
    { sources: [{ secret: { name: "a" }, configMap: { name: "a" } }] },
    ".sources[0]: Forbidden: may not specify more than 1 volume type per source",
  ],
  [
    "projected",
    { sources: [{ clusterTrustBundle: { signerName: "a", path: "" } }] },
    ".sources[0].clusterTrustBundle.signerName: Invalid value: \"a\": must be a fully qualified domain and path of the form 'example.com/signer-name'",
    ".sources[0].clusterTrustBundle.path: Required value",
  ],
  [
    "projected",
    {
      sources: [
        { secret: { name: "a", items: [{ key: "a", path: "p" }] } },
        { configMap: { name: "a", items: [{ key: "a", path: "p" }] } },
      ],
    },
    ': Invalid value: "a": conflicting duplicate paths',
  ],
  [
    "projected",
    { sources: [{ serviceAccountToken: { path: "", expirationSeconds: 599 } }] },
    ".sources[0].serviceAccountToken.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes",
    ".path: Required value",
    ".sources[0].serviceAccountToken: Forbidden: must not be specified when serviceAccountName is not set",
  ],
  ["ephemeral", {}, ".volumeClaimTemplate: Required value"],
  [
    "ephemeral",
    { volumeClaimTemplate: { metadata: { name: "a" }, spec: {} } },
    ".volumeClaimTemplate.metadata.name: Forbidden: cannot be set",
    ".volumeClaimTemplate.spec.accessModes: Required value: at least 1 access mode is required",
    ".volumeClaimTemplate.spec.resources[storage]: Required value",
  ],
  [
    "image",
    { reference: "a", pullPolicy: "Some" },
    '.pullPolicy: Unsupported value: "Some": supported values: "Always", "IfNotPresent", "Never"',
  ],
])("a volume of %s %j is refused", async (source, value, ...causes) => {
  const expected = causes.map((cause) => `spec.volumes[0].${source}${cause}`);
  expect(await refusalOf({ name: "v", [source]: value })).toEqual(expected);
});

test.each<[what: string, volumes: JsonObject[], ...causes: string[]]>([
  ["has no name", [{ emptyDir: {} }], "spec.volumes[0].name: Required value"],
  ["has a name in capitals", [{ name: "V", emptyDir: {} }], `spec.volumes[0].name: Invalid value: "V": ${label}`],
  ["has the name of another", [{ name: "v" }, { name: "v" }], 'spec.volumes[1].name: Duplicate value: "v"'],
  [
    "has two sources",
    [{ name: "v", emptyDir: {}, hostPath: { path: "/a" } }],
    "spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type",
  ],
])("a volume that %s is refused", async (_, volumes, ...causes) => {
  expect(await refusalOf(...volumes)).toEqual(causes);
});

test("a disk has the name that it once had", async () => {
  expect(await refusalOf({ name: "v", gcePersistentDisk: { partition: 256 } })).toEqual([
    "spec.volumes[0].persistentDisk.pdName: Required value",
    `spec.volumes[0].persistentDisk.partition: Invalid value: 256: ${partition}`,
  ]);
});

test("a volume without a source is an empty directory", async () => {
  expect(await refusalOf({ name: "v" })).toEqual([]);
});
