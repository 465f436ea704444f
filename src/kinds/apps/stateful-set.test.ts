import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, created, refusal, updated, updateRefusal } from "../testing.ts";

const path = "apps/v1/statefulsets";
const minimal: JsonObject = {
  spec: {
    serviceName: "a",
    selector: { matchLabels: { app: "a" } },
    template: { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "c", image: "i" }] } },
  },
};
const rich: JsonObject = {
  spec: {
    ...(minimal["spec"] as JsonObject),
    replicas: 2,
    template: {
      metadata: { labels: { app: "a" } },
      spec: { containers: [{ name: "c", image: "i", volumeMounts: [{ name: "data", mountPath: "/data" }] }] },
    },
    volumeClaimTemplates: [
      {
        metadata: { name: "data" },
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
      },
    ],
    podManagementPolicy: "Parallel",
    updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 1, maxUnavailable: "10%" } },
    minReadySeconds: 1,
    ordinals: { start: 5 },
    persistentVolumeClaimRetentionPolicy: { whenDeleted: "Delete", whenScaled: "Retain" },
  },
};
const negative = "must be greater than or equal to 0";
const fixed =
  "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
const label =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

test.each([
  ["little", minimal],
  ["everything", rich],
])("a StatefulSet with %s is accepted", async (_, set) => {
  expect(await refusal(path, set)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, ...causes: string[]]>([
  ["metadata.name", "a.b", 'metadata.name: Invalid value: "a.b": must not contain dots'],
  [
    "spec.podManagementPolicy",
    "Magic",
    "spec.podManagementPolicy: Invalid value: \"Magic\": must be 'OrderedReady' or 'Parallel'",
  ],
  [
    "spec.updateStrategy.type",
    "OnDelete",
    'spec.updateStrategy.rollingUpdate: Invalid value: {"Partition":1,"MaxUnavailable":"10%"}: only allowed for updateStrategy \'RollingUpdate\'',
  ],
  [
    "spec.updateStrategy.rollingUpdate.partition",
    -1,
    `spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: ${negative}`,
  ],
  [
    "spec.updateStrategy.rollingUpdate.maxUnavailable",
    0,
    "spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: 0: cannot be 0",
  ],
  [
    "spec.persistentVolumeClaimRetentionPolicy.whenScaled",
    "Keep",
    'spec.persistentVolumeClaimRetentionPolicy.whenScaled: Unsupported value: "Keep": supported values: "Retain", "Delete"',
  ],
  ["spec.replicas", -1, `spec.replicas: Invalid value: -1: ${negative}`],
  ["spec.minReadySeconds", -1, `spec.minReadySeconds: Invalid value: -1: ${negative}`],
  ["spec.ordinals.start", -1, `spec.ordinals.start: Invalid value: -1: ${negative}`],
  ["spec.serviceName", "A", `spec.serviceName: Invalid value: "A": ${label}`],
  ["spec.selector", {}, "spec.selector: Invalid value: {}: empty selector is invalid for statefulset"],
  [
    "spec.selector.matchLabels.app",
    "b",
    'spec.template.metadata.labels: Invalid value: {"app":"a"}: `selector` does not match template `labels`',
  ],
  [
    "spec.template.spec.restartPolicy",
    "Never",
    'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
  ],
])("a StatefulSet with %s = %j is refused", async (field, value, ...causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});

test.each<[field: string, value: JsonValue | undefined, ...causes: string[]]>([
  ["spec.replicas", 3],
  ["spec.minReadySeconds", 0],
  ["spec.ordinals", undefined],
  ["spec.persistentVolumeClaimRetentionPolicy.whenDeleted", "Retain"],
  ["spec.template.spec.containers[0].image", "j"],
  ["spec.serviceName", "b", fixed],
  ["spec.podManagementPolicy", "OrderedReady", fixed],
  ["spec.volumeClaimTemplates[0].spec.resources.requests.storage", "2Gi", fixed],
])("an update that makes %s = %j gets the expected answer", async (field, value, ...causes) => {
  expect(await updateRefusal(path, rich, changed(rich, field, value))).toEqual(causes);
});

test("claim templates are claims that wait", async () => {
  const { spec } = (await created(path, rich)) as unknown as { spec: { volumeClaimTemplates: JsonObject[] } };
  expect(spec.volumeClaimTemplates[0]).toEqual({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: "data" },
    spec: {
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: "1Gi" } },
      volumeMode: "Filesystem",
    },
    status: { phase: "Pending" },
  });
});

test("the status has a path of its own", async () => {
  const status: JsonObject = { replicas: 2, readyReplicas: 1, currentReplicas: 2 };
  expect(await updated(path, minimal, { ...rich, status }, "status")).toMatchObject({
    metadata: { generation: 1 },
    spec: { replicas: 1 },
    status,
  });
  expect((await updated(path, minimal, changed(minimal, "status", status)))["status"]).toEqual({
    replicas: 0,
    availableReplicas: 0,
  });
});

test.each<[status: JsonObject, ...causes: string[]]>([
  [
    { replicas: 1, currentReplicas: 2 },
    "status.currentReplicas: Invalid value: 2: cannot be greater than status.replicas",
  ],
  [
    { replicas: 2, readyReplicas: 1, availableReplicas: 2 },
    "status.availableReplicas: Invalid value: 2: cannot be greater than status.readyReplicas",
  ],
  [{ replicas: 0, observedGeneration: -1 }, `status.observedGeneration: Invalid value: -1: ${negative}`],
])("status %j is refused", async (status, ...causes) => {
  expect(await updateRefusal(path, minimal, { ...minimal, status }, "status")).toEqual(causes);
});
