import { describe, expect, test } from "bun:test";
import { parseRequestInfo } from "../../../http/parse-request-info.ts";
import type { UserInfo } from "../../../request/user-info.ts";
import { nodeRules } from "../rbac/bootstrap/cluster-roles.ts";
import { rulesOf } from "../rbac/bootstrap/default-objects.ts";
import { policyRules } from "../rbac/policy-rule.ts";
import { EntrySource } from "../rbac/testing.ts";
import { nodeAuthorizer } from "./node-authorizer.ts";
import { NodeGraph } from "./node-graph.ts";

const prefixes = {
  pods: "/registry/pods/",
  persistentVolumes: "/registry/persistentvolumes/",
  volumeAttachments: "/registry/volumeattachments/",
  resourceSlices: "/registry/resourceslices/",
  podCertificateRequests: "/registry/podcertificaterequests/",
};
const source = new EntrySource();
const graph = new NodeGraph(prefixes);
source.put("/registry/pods/ns/before", { spec: { nodeName: "n1", volumes: [{ secret: { secretName: "before" } }] } });
graph.follow(source);
source.put("/registry/pods/ns/p", {
  spec: {
    nodeName: "n1",
    serviceAccountName: "robot",
    imagePullSecrets: [{ name: "pull" }],
    volumes: [
      { name: "a", secret: { secretName: "mounted" } },
      { name: "b", configMap: { name: "config" } },
      { name: "c", persistentVolumeClaim: { claimName: "claim" } },
      { name: "d", projected: { sources: [{ secret: { name: "projected" } }, { configMap: { name: "projected" } }] } },
      { name: "e", ephemeral: {} },
    ],
    initContainers: [{ envFrom: [{ secretRef: { name: "init" } }] }],
    containers: [
      { env: [{ valueFrom: { secretKeyRef: { name: "env" } } }, { valueFrom: { configMapKeyRef: { name: "env" } } }] },
    ],
    resourceClaims: [{ name: "r", resourceClaimName: "device" }],
  },
});
source.put("/registry/persistentvolumes/pv", {
  spec: {
    claimRef: { namespace: "ns", name: "claim" },
    csi: { nodePublishSecretRef: { name: "disk", namespace: "kube-system" } },
  },
});
source.put("/registry/pods/ns/mirror", {
  metadata: { annotations: { "kubernetes.io/config.mirror": "x" } },
  spec: { nodeName: "n1", volumes: [{ secret: { secretName: "by-mirror" } }] },
});
source.put("/registry/pods/ns/elsewhere", {
  spec: { nodeName: "n2", volumes: [{ secret: { secretName: "theirs" } }] },
});
source.put("/registry/pods/ns/unbound", { spec: { volumes: [{ secret: { secretName: "nobodys" } }] } });
source.put("/registry/resourceslices/s1", { spec: { nodeName: "n1" } });
source.put("/registry/resourceslices/s2", { spec: { nodeName: "n2" } });
source.put("/registry/volumeattachments/va", { spec: { nodeName: "n1" } });

const authorizer = nodeAuthorizer(graph, policyRules(rulesOf(nodeRules, () => true)));
const node = (name: string, ...groups: string[]): UserInfo => ({
  name: `system:node:${name}`,
  uid: "",
  groups,
  extra: new Map(),
});
const ask = (method: string, target: string, user = node("n1", "system:nodes")) => {
  const decision = authorizer.authorize(user, parseRequestInfo(method, target));
  if (decision instanceof Promise) throw new Error("the node authorizer waits for nothing");
  return decision;
};

const ns = "/api/v1/namespaces/ns";
const unrelated = "no relationship found between node 'n1' and this object";

describe("attack 41: a node reads what its pods use", () => {
  test.each([
    `${ns}/secrets/before`,
    `${ns}/secrets/mounted`,
    `${ns}/secrets/pull`,
    `${ns}/secrets/projected`,
    `${ns}/secrets/init`,
    `${ns}/secrets/env`,
    "/api/v1/namespaces/kube-system/secrets/disk",
    `${ns}/configmaps/config`,
    `${ns}/configmaps/env`,
    `${ns}/persistentvolumeclaims/claim`,
    `${ns}/persistentvolumeclaims/p-e`,
    "/api/v1/persistentvolumes/pv",
    `${ns}/serviceaccounts/robot`,
    `/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/device`,
    "/apis/storage.k8s.io/v1/volumeattachments/va",
    "/apis/resource.k8s.io/v1/resourceslices/s1",
    `${ns}/pods/p`,
    `${ns}/secrets?fieldSelector=metadata.name%3Dmounted`,
    `${ns}/secrets?watch=1&fieldSelector=metadata.name%3Dmounted`,
    "/api/v1/nodes/n1",
    "/api/v1/nodes?fieldSelector=metadata.name%3Dn1",
    "/api/v1/pods?fieldSelector=spec.nodeName%3Dn1",
    "/apis/resource.k8s.io/v1/resourceslices?fieldSelector=spec.nodeName%3Dn1",
    "/api/v1/services",
    "/apis/node.k8s.io/v1/runtimeclasses",
  ])("%s", (target) => {
    expect(ask("GET", target).kind).toBe("allow");
  });

  test.each<[string, string]>([
    [`${ns}/secrets/theirs`, unrelated],
    [`${ns}/secrets/nobodys`, unrelated],
    [`${ns}/secrets/by-mirror`, unrelated],
    ["/api/v1/namespaces/other/secrets/mounted", unrelated],
    ["/api/v1/namespaces/ns/secrets/disk", unrelated],
    [`${ns}/pods/elsewhere`, unrelated],
    ["/apis/resource.k8s.io/v1/resourceslices/s2", unrelated],
    [`${ns}/secrets`, "No Object name found"],
    ["/api/v1/secrets?fieldSelector=metadata.name%3Dmounted", "can only read namespaced object of this type"],
    ["/api/v1/pods", "can only list/watch pods with spec.nodeName field selector"],
    ["/api/v1/pods?fieldSelector=spec.nodeName%3Dn2", "can only list/watch pods with spec.nodeName field selector"],
    ["/api/v1/pods?fieldSelector=spec.nodeName!%3Dn1", "can only list/watch pods with spec.nodeName field selector"],
    ["/api/v1/nodes", "node 'n1' cannot read all nodes, only its own Node object"],
    ["/api/v1/nodes/n2", "node 'n1' cannot read 'n2', only its own Node object"],
    [
      "/apis/coordination.k8s.io/v1/namespaces/ns/leases/n1",
      'can only access leases in the "kube-node-lease" system namespace',
    ],
    [
      "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n2",
      "can only access node lease with the same name as the requesting node",
    ],
    ["/apis/storage.k8s.io/v1/csinodes/n2", "can only access CSINode with the same name as the requesting node"],
    ["/apis/apps/v1/deployments", ""],
  ])("not %s", (target, reason) => {
    expect(ask("GET", target)).toEqual({ kind: "noOpinion", reason });
  });
});

test.each<[string, string, boolean]>([
  ["PUT", `${ns}/secrets/mounted`, false],
  ["DELETE", `${ns}/configmaps/config`, false],
  ["POST", `${ns}/serviceaccounts/robot/token`, true],
  ["POST", `${ns}/serviceaccounts/other/token`, false],
  ["PUT", `${ns}/persistentvolumeclaims/claim/status`, true],
  ["PUT", `${ns}/persistentvolumeclaims/other/status`, false],
  ["PATCH", "/api/v1/nodes/n2/status", true],
  ["DELETE", "/api/v1/nodes/n1", false],
  ["POST", `${ns}/pods`, true],
  ["PUT", `${ns}/pods/p`, false],
  ["POST", `${ns}/pods/elsewhere/eviction`, true],
  ["PUT", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1", true],
  ["POST", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", true],
  ["DELETE", "/apis/resource.k8s.io/v1/resourceslices?fieldSelector=spec.nodeName%3Dn1", true],
  ["DELETE", "/apis/resource.k8s.io/v1/resourceslices", false],
])("a node's %s %s", (method, target, allowed) => {
  expect(ask(method, target).kind).toBe(allowed ? "allow" : "noOpinion");
});

test("other users are not nodes", () => {
  expect(ask("GET", `${ns}/secrets/mounted`, node("n1")).kind).toBe("noOpinion");
  expect(ask("GET", "/api/v1/services", { ...node("n1", "system:nodes"), name: "n1" }).kind).toBe("noOpinion");
  expect(ask("GET", "/api/v1/services", node("", "system:nodes")).reason).toStartWith("unknown node for user");
});

test("deleted objects no longer lead to others", () => {
  source.put("/registry/pods/ns/short", { spec: { nodeName: "n1", volumes: [{ secret: { secretName: "short" } }] } });
  expect(ask("GET", `${ns}/secrets/short`).kind).toBe("allow");
  source.delete("/registry/pods/ns/short");
  expect(ask("GET", `${ns}/secrets/short`).kind).toBe("noOpinion");
  source.put("/registry/persistentvolumes/pv", { spec: { claimRef: { namespace: "ns", name: "other" } } });
  expect(ask("GET", "/api/v1/persistentvolumes/pv").kind).toBe("noOpinion");
  expect(ask("GET", "/api/v1/namespaces/kube-system/secrets/disk").kind).toBe("noOpinion");
});
