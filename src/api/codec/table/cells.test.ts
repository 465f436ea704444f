import { describe, expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../json.ts";
import { cellsOf } from "./cells.ts";
import { RowTime } from "./row-time.ts";
import { cells, columnNames, nowMs, scheme, storedObject } from "./testing.ts";

/** Cells of a row in the order of the columns. */
function rowOf(group: string, kind: string, object: JsonObject): JsonValue[] {
  const metadata = { name: "x", creationTimestamp: "2026-01-01T00:55:00Z", ...(object["metadata"] as JsonObject) };
  const shown = cells(group, kind, { ...object, metadata });
  return columnNames(group, kind).map((name) => shown[name] ?? null);
}

test.each(
  scheme.resources
    .filter(({ virtual }) => !virtual)
    .map((info) => [`${info.group}/${info.version} ${info.kind}`, info] as const),
)("%s has a cell for every column, even when the object is empty", (_name, info) => {
  const shown = cellsOf(storedObject(info, {}), info, new RowTime(nowMs));
  expect(info.columns.filter(({ name }) => shown[name] === undefined).map(({ name }) => name)).toEqual([]);
});

const template = {
  metadata: { labels: { b: "2", a: "1" } },
  spec: {
    nodeSelector: { disk: "ssd" },
    containers: [
      { name: "m", image: "i:1" },
      { name: "n", image: "j:2" },
    ],
  },
};
const selector = {
  matchLabels: { app: "web" },
  matchExpressions: [{ key: "tier", operator: "In", values: ["b", "a"] }],
};
const selected = "app=web,tier in (a,b)";
const [names, images] = ["m,n", "i:1,j:2"];

test("every column has a description", () => {
  const silent = scheme.resources.flatMap(({ kind, columns }) =>
    columns.filter(({ description }) => description === "").map(({ name }) => `${kind}/${name}`),
  );
  expect(silent).toEqual([]);
});

describe("a row of", () => {
  const cases: [group: string, kind: string, object: JsonObject, row: JsonValue[]][] = [
    [
      "apps",
      "Deployment",
      {
        spec: { replicas: 3, selector, template },
        status: { readyReplicas: 2, updatedReplicas: 1, availableReplicas: 2 },
      },
      ["x", "2/3", 1, 2, "5m", names, images, selected],
    ],
    ["apps", "Deployment", { spec: { selector: {} } }, ["x", "0/0", 0, 0, "5m", "", "", ""]],
    [
      "apps",
      "ReplicaSet",
      { spec: { replicas: 3, selector, template }, status: { replicas: 2, readyReplicas: 1 } },
      ["x", 3, 2, 1, "5m", names, images, selected],
    ],
    [
      "",
      "ReplicationController",
      { spec: { replicas: 1, selector: { b: "2", a: "1" }, template } },
      ["x", 1, 0, 0, "5m", names, images, "a=1,b=2"],
    ],
    [
      "apps",
      "StatefulSet",
      { spec: { replicas: 2, template }, status: { readyReplicas: 1 } },
      ["x", "1/2", "5m", names, images],
    ],
    [
      "apps",
      "DaemonSet",
      {
        spec: { selector, template },
        status: {
          desiredNumberScheduled: 5,
          currentNumberScheduled: 4,
          numberReady: 3,
          updatedNumberScheduled: 2,
          numberAvailable: 1,
        },
      },
      ["x", 5, 4, 3, 2, 1, "disk=ssd", "5m", names, images, selected],
    ],
    ["", "PodTemplate", { template }, ["x", names, images, "a=1,b=2"]],
    [
      "apps",
      "ControllerRevision",
      {
        metadata: { ownerReferences: [{ apiVersion: "apps/v1", kind: "StatefulSet", name: "db", controller: true }] },
        revision: 4,
      },
      ["x", "statefulset.apps/db", 4, "5m"],
    ],
    [
      "batch",
      "Job",
      {
        spec: { completions: 3, selector, template },
        status: {
          succeeded: 3,
          startTime: "2026-01-01T00:55:00Z",
          completionTime: "2026-01-01T00:57:10Z",
          conditions: [{ type: "Complete", status: "True" }],
        },
      },
      ["x", "Complete", "3/3", "2m10s", "5m", names, images, selected],
    ],
    [
      "batch",
      "Job",
      { spec: { parallelism: 4, selector, template }, status: { startTime: "2026-01-01T00:59:00Z" } },
      ["x", "Running", "0/1 of 4", "60s", "5m", names, images, selected],
    ],
    [
      "batch",
      "Job",
      { spec: { parallelism: 1, selector, template }, status: { conditions: [{ type: "Suspended", status: "True" }] } },
      ["x", "Suspended", "0/1", "", "5m", names, images, selected],
    ],
    [
      "batch",
      "CronJob",
      {
        spec: { schedule: "*/5 * * * *", suspend: false, timeZone: "Etc/UTC", jobTemplate: { spec: { template } } },
        status: { active: [{ name: "j" }], lastScheduleTime: "2026-01-01T00:56:00Z" },
      },
      ["x", "*/5 * * * *", "Etc/UTC", "False", 1, "4m", "5m", names, images, "<none>"],
    ],
    [
      "batch",
      "CronJob",
      { spec: { schedule: "@daily" } },
      ["x", "@daily", "<none>", "<unset>", 0, "<none>", "5m", "", "", "<none>"],
    ],
    [
      "",
      "Service",
      {
        spec: {
          type: "NodePort",
          clusterIPs: ["10.0.0.9", "fd00::9"],
          selector: { app: "web" },
          ports: [
            { port: 80, nodePort: 30080, protocol: "TCP" },
            { port: 53, protocol: "UDP" },
          ],
        },
      },
      ["x", "NodePort", "10.0.0.9", "<none>", "80:30080/TCP,53/UDP", "5m", "app=web"],
    ],
    [
      "",
      "Service",
      {
        spec: {
          type: "LoadBalancer",
          clusterIPs: ["10.0.0.9"],
          externalIPs: ["192.0.2.7"],
          ports: [{ port: 80, protocol: "TCP" }],
        },
        status: { loadBalancer: { ingress: [{ hostname: "b.example" }, { ip: "192.0.2.1" }] } },
      },
      ["x", "LoadBalancer", "10.0.0.9", "192.0.2.1,b.example,192.0.2.7", "80/TCP", "5m", "<none>"],
    ],
    [
      "",
      "Service",
      { spec: { type: "LoadBalancer", clusterIPs: ["10.0.0.9"] } },
      ["x", "LoadBalancer", "10.0.0.9", "<pending>", "<none>", "5m", "<none>"],
    ],
    [
      "",
      "Service",
      { spec: { type: "ClusterIP", clusterIPs: ["None"] } },
      ["x", "ClusterIP", "None", "<none>", "<none>", "5m", "<none>"],
    ],
    [
      "",
      "Service",
      { spec: { type: "ExternalName", externalName: "db.example" } },
      ["x", "ExternalName", "<none>", "db.example", "<none>", "5m", "<none>"],
    ],
    [
      "",
      "Endpoints",
      {
        subsets: [{ addresses: [{ ip: "10.0.0.1" }, { ip: "fd00::1" }], ports: [{ port: 80 }, { port: 443 }] }],
      },
      ["x", "10.0.0.1:80,[fd00::1]:80,10.0.0.1:443 + 1 more...", "5m"],
    ],
    ["", "Endpoints", { subsets: [{ addresses: [{ ip: "10.0.0.1" }] }] }, ["x", "10.0.0.1", "5m"]],
    [
      "",
      "Endpoints",
      {
        subsets: [
          { addresses: [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }], ports: [{ port: 1 }, { port: 2 }] },
          { addresses: [{ ip: "10.0.0.3" }] },
        ],
      },
      ["x", "10.0.0.1:1,10.0.0.2:1,10.0.0.1:2 + 2 more...", "5m"],
    ],
    ["", "Endpoints", {}, ["x", "<none>", "5m"]],
    [
      "discovery.k8s.io",
      "EndpointSlice",
      {
        addressType: "IPv4",
        ports: [{ port: 80 }, { name: "any" }, {}],
        endpoints: ["1", "2", "3", "4", "5"].map((last) => ({ addresses: [`10.0.0.${last}`] })),
      },
      ["x", "IPv4", "80,any,*", "10.0.0.1,10.0.0.2,10.0.0.3 + 2 more...", "5m"],
    ],
    ["discovery.k8s.io", "EndpointSlice", { addressType: "IPv6" }, ["x", "IPv6", "<unset>", "<unset>", "5m"]],
    [
      "networking.k8s.io",
      "Ingress",
      {
        spec: { ingressClassName: "nginx", tls: [{}], rules: ["a", "b", "c", "d", ""].map((host) => ({ host })) },
        status: { loadBalancer: { ingress: [{ ip: "192.0.2.2" }, { ip: "192.0.2.1" }] } },
      },
      ["x", "nginx", "a,b,c + 2 more...", "192.0.2.1,192.0.2.2", "80, 443", "5m"],
    ],
    ["networking.k8s.io", "Ingress", { spec: { rules: [{}] } }, ["x", "<none>", "*", "", "80", "5m"]],
    [
      "networking.k8s.io",
      "IngressClass",
      { spec: { controller: "example.com/c", parameters: { apiGroup: "example.com", kind: "Params", name: "p" } } },
      ["x", "example.com/c", "Params.example.com/p", "5m"],
    ],
    ["networking.k8s.io", "NetworkPolicy", { spec: { podSelector: {} } }, ["x", "<none>", "5m"]],
    [
      "networking.k8s.io",
      "IPAddress",
      { spec: { parentRef: { resource: "services", namespace: "default", name: "kubernetes" } } },
      ["x", "services/default/kubernetes"],
    ],
    [
      "networking.k8s.io",
      "ServiceCIDR",
      { spec: { cidrs: ["10.0.0.0/16", "fd00::/108"] } },
      ["x", "10.0.0.0/16,fd00::/108", "5m"],
    ],
    [
      "",
      "PersistentVolume",
      {
        spec: {
          capacity: { storage: "5Gi" },
          accessModes: ["ReadWriteMany", "ReadWriteOnce", "ReadWriteMany"],
          persistentVolumeReclaimPolicy: "Retain",
          claimRef: { namespace: "n", name: "c" },
          storageClassName: "fast",
          volumeMode: "Filesystem",
        },
        status: { phase: "Bound" },
      },
      ["x", "5Gi", "RWO,RWX", "Retain", "Bound", "n/c", "fast", "<unset>", "", "5m", "Filesystem"],
    ],
    [
      "",
      "PersistentVolumeClaim",
      {
        metadata: {
          deletionTimestamp: "2026-01-01T00:59:00Z",
          annotations: { "volume.beta.kubernetes.io/storage-class": "old" },
        },
        spec: { volumeName: "v", storageClassName: "fast" },
        status: { phase: "Bound", capacity: { storage: "5Gi" }, accessModes: ["ReadWriteOncePod"] },
      },
      ["x", "Terminating", "v", "5Gi", "RWOP", "old", "<unset>", "5m", "<unset>"],
    ],
    [
      "",
      "PersistentVolumeClaim",
      { status: { phase: "Pending", capacity: { storage: "5Gi" } } },
      ["x", "Pending", "", "", "", "", "<unset>", "5m", "<unset>"],
    ],
    [
      "storage.k8s.io",
      "StorageClass",
      {
        metadata: { annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
        provisioner: "example.com/p",
        allowVolumeExpansion: true,
      },
      ["x (default)", "example.com/p", "Delete", "Immediate", true, "5m"],
    ],
    [
      "storage.k8s.io",
      "VolumeAttachment",
      { spec: { attacher: "a", nodeName: "n", source: { persistentVolumeName: "v" } }, status: { attached: true } },
      ["x", "a", "v", "n", true, "5m"],
    ],
    ["storage.k8s.io", "CSINode", { spec: { drivers: [{}, {}] } }, ["x", 2, "5m"]],
    [
      "storage.k8s.io",
      "CSIDriver",
      {
        spec: {
          attachRequired: false,
          tokenRequests: [{ audience: "a" }, { audience: "b" }],
          volumeLifecycleModes: ["Persistent"],
        },
      },
      ["x", false, false, false, "a,b", false, "Persistent", "5m"],
    ],
    ["storage.k8s.io", "CSIStorageCapacity", { storageClassName: "fast" }, ["x", "2026-01-01T00:55:00Z"]],
    [
      "autoscaling",
      "HorizontalPodAutoscaler",
      {
        spec: {
          scaleTargetRef: { kind: "Deployment", name: "web" },
          minReplicas: 2,
          maxReplicas: 9,
          metrics: [
            { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } } },
            { type: "Pods", pods: { metric: { name: "q" }, target: { averageValue: "5" } } },
            { type: "Object", object: { target: { value: "7" } } },
          ],
        },
        status: {
          currentReplicas: 3,
          currentMetrics: [{ type: "Resource", resource: { name: "cpu", current: { averageUtilization: 41 } } }],
        },
      },
      ["x", "Deployment/web", "cpu: 41%/80%, <unknown>/5 + 1 more...", "2", 9, 3, "5m"],
    ],
    [
      "autoscaling",
      "HorizontalPodAutoscaler",
      {
        spec: {
          maxReplicas: 1,
          metrics: [
            { type: "ContainerResource", containerResource: { name: "memory", target: { averageValue: "1Gi" } } },
            { type: "External", external: { target: { averageValue: "10" } } },
          ],
        },
        status: { currentMetrics: [{}, { external: { current: { averageValue: "4" } } }] },
      },
      ["x", "/", "memory: <unknown>/1Gi, 4/10 (avg)", "<unset>", 1, 0, "5m"],
    ],
    [
      "policy",
      "PodDisruptionBudget",
      { spec: { minAvailable: "50%" }, status: { disruptionsAllowed: 2 } },
      ["x", "50%", "N/A", 2, "5m"],
    ],
    [
      "",
      "ResourceQuota",
      {
        status: {
          hard: { pods: "9", "limits.cpu": "4", "requests.cpu": "2" },
          used: { pods: "3", "limits.cpu": "1", "requests.cpu": "0" },
        },
      },
      ["x", "pods: 3/9, requests.cpu: 0/2", "limits.cpu: 1/4", "5m"],
    ],
    [
      "rbac.authorization.k8s.io",
      "RoleBinding",
      {
        roleRef: { kind: "ClusterRole", name: "view" },
        subjects: [
          { kind: "User", name: "a" },
          { kind: "User", name: "b" },
          { kind: "Group", name: "g" },
          { kind: "ServiceAccount", namespace: "n", name: "s" },
        ],
      },
      ["x", "ClusterRole/view", "5m", "a, b", "g", "n/s"],
    ],
    [
      "certificates.k8s.io",
      "CertificateSigningRequest",
      {
        spec: { signerName: "example.com/s", username: "u", expirationSeconds: 86_400 },
        status: { certificate: "eA==", conditions: [{ type: "Approved" }, { type: "Failed" }] },
      },
      ["x", "5m", "example.com/s", "u", "24h", "Approved,Failed,Issued"],
    ],
    [
      "certificates.k8s.io",
      "PodCertificateRequest",
      {
        spec: {
          podName: "p",
          nodeName: "n",
          signerName: "example.com/s",
          unverifiedUserAnnotations: { "b/x": "2", "a/x": "1" },
        },
        status: { conditions: [{ type: "Issued" }] },
      },
      ["x", "p", "", "n", "example.com/s", "Issued", "a/x=1,b/x=2"],
    ],
    [
      "storagemigration.k8s.io",
      "StorageVersionMigration",
      {
        spec: { resource: { group: "apps", resource: "deployments" } },
        status: {
          conditions: [
            { type: "Running", status: "False" },
            { type: "Succeeded", status: "True" },
          ],
        },
      },
      ["x", "deployments.apps", "Succeeded"],
    ],
    ["storagemigration.k8s.io", "StorageVersionMigration", {}, ["x", "", "Unknown"]],
    [
      "resource.k8s.io",
      "ResourcePoolStatusRequest",
      { spec: { driver: "d" } },
      ["x", "d", "-", "-", "-", "-", "-", 0, "Pending", "<none>"],
    ],
    [
      "resource.k8s.io",
      "ResourcePoolStatusRequest",
      {
        spec: { driver: "d" },
        status: {
          poolCount: 3,
          pools: [
            { totalDevices: 4, availableDevices: 1, allocatedDevices: 3 },
            { totalDevices: 2, validationError: "x" },
          ],
          conditions: [{ type: "Complete", status: "True", lastTransitionTime: "2026-01-01T00:55:00Z" }],
        },
      },
      ["x", "d", "6", "1", "3", "0", "1", 3, "Complete (2/3 pools)", "5m"],
    ],
    ["certificates.k8s.io", "CertificateSigningRequest", {}, ["x", "5m", "<none>", "", "<none>", "Pending"]],
    ["admissionregistration.k8s.io", "ValidatingWebhookConfiguration", { webhooks: [{}, {}] }, ["x", 2, "5m"]],
    [
      "admissionregistration.k8s.io",
      "ValidatingAdmissionPolicy",
      { spec: { validations: [{}], paramKind: { apiVersion: "v1", kind: "ConfigMap" } } },
      ["x", 1, "v1/ConfigMap", "5m"],
    ],
    [
      "admissionregistration.k8s.io",
      "ValidatingAdmissionPolicyBinding",
      { spec: { policyName: "p", paramRef: { name: "c" } } },
      ["x", "p", "*/c", "5m"],
    ],
    [
      "flowcontrol.apiserver.k8s.io",
      "FlowSchema",
      {
        spec: {
          priorityLevelConfiguration: { name: "l" },
          matchingPrecedence: 7,
          distinguisherMethod: { type: "ByUser" },
        },
        status: { conditions: [{ type: "Dangling", status: "False" }] },
      },
      ["x", "l", 7, "ByUser", "5m", "False"],
    ],
    [
      "flowcontrol.apiserver.k8s.io",
      "PriorityLevelConfiguration",
      {
        spec: {
          type: "Limited",
          limited: {
            nominalConcurrencyShares: 5,
            limitResponse: { queuing: { queues: 64, handSize: 6, queueLengthLimit: 50 } },
          },
        },
      },
      ["x", "Limited", 5, 64, 6, 50, "5m"],
    ],
    [
      "flowcontrol.apiserver.k8s.io",
      "PriorityLevelConfiguration",
      { spec: { type: "Exempt" } },
      ["x", "Exempt", "<none>", "<none>", "<none>", "<none>", "5m"],
    ],
    ["scheduling.k8s.io", "PriorityClass", { value: -5, preemptionPolicy: "Never" }, ["x", -5, false, "5m", "Never"]],
    [
      "resource.k8s.io",
      "ResourceClaim",
      { status: { allocation: {}, reservedFor: [{}] } },
      ["x", "allocated,reserved", "5m"],
    ],
    ["resource.k8s.io", "ResourceClaim", {}, ["x", "pending", "5m"]],
    ["rbac.authorization.k8s.io", "ClusterRole", {}, ["x", "2026-01-01T00:55:00Z"]],
  ];
  test.each(cases)("%s/%s for %j", (group, kind, object, row) => {
    expect(rowOf(group, kind, object)).toEqual(row);
  });
});
