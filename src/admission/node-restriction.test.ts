import { describe, expect, test } from "bun:test";
import type { AdmissionAttributes } from "../registry/admission.ts";
import { nodeRestriction } from "./node-restriction.ts";
import { attributes, objects, type ResourceText } from "./testing.ts";

const node = { name: "system:node:n1", uid: "", groups: ["system:nodes"], extra: new Map() };
const podOf = (nodeName: string, more: object = {}) => ({
  metadata: { name: "p", namespace: "ns", uid: "u1" },
  spec: { nodeName },
  ...more,
});
const plugin = nodeRestriction({
  lookup: objects({ "/pods": [podOf("n1")], "/nodes": [{ metadata: { name: "n1", uid: "node-uid" } }] }),
});

type Parts = Omit<Parameters<typeof attributes>[1], "user">;
/** Returns the rejection, or "" when the node is allowed. */
function refusal(resource: ResourceText, parts: Parts, user: AdmissionAttributes["user"] = node): string {
  try {
    plugin.admit?.(attributes(resource, { user, ...parts }));
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}

const owner = { apiVersion: "v1", kind: "Node", name: "n1", uid: "node-uid", controller: true };
const mirror = (spec: object = {}, metadata: object = {}, more: object = {}) => ({
  metadata: { name: "p", annotations: { "kubernetes.io/config.mirror": "x" }, ownerReferences: [owner], ...metadata },
  spec: { nodeName: "n1", ...spec },
  ...more,
});

describe("attack 41: a node creates its own mirror pods and no others", () => {
  test.each<[string, object, string]>([
    ["its own", mirror(), ""],
    [
      "no mirror",
      { metadata: { name: "p" }, spec: { nodeName: "n1" } },
      'pod does not have "kubernetes.io/config.mirror" annotation, node "n1" can only create mirror pods',
    ],
    ["another node's", mirror({ nodeName: "n2" }), 'node "n1" can only create pods with spec.nodeName set to itself'],
    [
      "without an owner",
      mirror({}, { ownerReferences: [] }),
      'node "n1" can only create pods with an owner reference set to itself',
    ],
    [
      "with two owners",
      mirror({}, { ownerReferences: [owner, owner] }),
      'node "n1" can only create pods with a single owner reference set to itself',
    ],
    [
      "with an owner that does not control it",
      mirror({}, { ownerReferences: [{ ...owner, controller: false }] }),
      "controller owner reference",
    ],
    [
      "with an owner that blocks",
      mirror({}, { ownerReferences: [{ ...owner, blockOwnerDeletion: true }] }),
      'node "n1" must not set blockOwnerDeletion on an owner reference',
    ],
    [
      "with an owner of another life",
      mirror({}, { ownerReferences: [{ ...owner, uid: "old" }] }),
      "node n1 UID mismatch: expected old got node-uid",
    ],
    [
      "with an account",
      mirror({ serviceAccountName: "a" }),
      'node "n1" can not create pods that reference a service account',
    ],
    ["with a secret", mirror({ volumes: [{ name: "v", secret: { secretName: "s" } }] }), "reference secrets"],
    [
      "with a secret in an ephemeral container",
      mirror({ ephemeralContainers: [{ envFrom: [{ secretRef: { name: "s" } }] }] }),
      "reference secrets",
    ],
    [
      "with a config map",
      mirror({ containers: [{ envFrom: [{ configMapRef: { name: "c" } }] }] }),
      "reference configmaps",
    ],
    [
      "with a claim",
      mirror({ volumes: [{ name: "v", persistentVolumeClaim: { claimName: "c" } }] }),
      "reference persistentvolumeclaims",
    ],
    [
      "with a trust bundle",
      mirror({ volumes: [{ name: "v", projected: { sources: [{ clusterTrustBundle: {} }] } }] }),
      "reference clustertrustbundles",
    ],
  ])("%s", (_what, object, message) => {
    const text = refusal("/pods", { object });
    if (message === "") expect(text).toBe("");
    else expect(text).toContain(message);
  });
});

test.each<[string, object]>([
  ["in its spec", mirror({ resourceClaims: [{ name: "r", resourceClaimName: "device" }] })],
  [
    "in its status",
    mirror({}, {}, { status: { resourceClaimStatuses: [{ name: "r", resourceClaimName: "device" }] } }),
  ],
])("CVE-2025-4563: a mirror pod with resource claims %s", (_where, object) => {
  expect(refusal("/pods", { object })).toEndWith('node "n1" can not create pods that reference resourceclaims');
});

test.each<["CREATE" | "UPDATE"]>([["CREATE"], ["UPDATE"]])(
  "CVE-2025-5187: a node gives itself an owner (%s)",
  (operation) => {
    const object = { metadata: { name: "n1", ownerReferences: [{ kind: "ConfigMap" }] } };
    const oldObject = operation === "UPDATE" ? { metadata: { name: "n1" } } : undefined;
    const message = refusal("/nodes", {
      operation,
      name: "n1",
      object,
      ...(oldObject === undefined ? {} : { oldObject }),
    });
    expect(message).toEndWith('node "n1" is not allowed to modify ownerReferences');
  },
);

describe("nodes", () => {
  const labels = (values: Record<string, string>, spec: object = {}) => ({
    metadata: { name: "n1", labels: values },
    spec,
  });

  test.each<[string, Parts, string]>([
    ["another", { operation: "UPDATE", name: "n2", object: {} }, 'node "n1" is not allowed to modify node "n2"'],
    ["its own", { object: labels({ "kubernetes.io/hostname": "n1", "node.kubernetes.io/x": "y", mine: "z" }) }, ""],
    [
      "a restricted label",
      { object: labels({ "node-restriction.kubernetes.io/x": "y" }) },
      "is not allowed to set the following labels: node-restriction.kubernetes.io/x",
    ],
    [
      "a label below it",
      { object: labels({ "a.node-restriction.kubernetes.io/x": "y" }) },
      "a.node-restriction.kubernetes.io/x",
    ],
    ["a label of the system", { object: labels({ "k8s.io/x": "y" }) }, "k8s.io/x"],
    [
      "a label taken away",
      { operation: "UPDATE", object: labels({}), oldObject: labels({ "kubernetes.io/role": "x" }) },
      "is not allowed to modify labels: kubernetes.io/role",
    ],
    [
      "a restricted label that stays",
      { operation: "UPDATE", object: labels({ "k8s.io/x": "y" }), oldObject: labels({ "k8s.io/x": "y" }) },
      "",
    ],
    [
      "taints",
      { operation: "UPDATE", object: labels({}), oldObject: labels({}, { taints: [{ key: "a" }] }) },
      'node "n1" is not allowed to modify taints',
    ],
  ])("%s", (_what, parts, message) => {
    const text = refusal("/nodes", { name: "n1", ...parts });
    if (message === "") expect(text).toBe("");
    else expect(text).toContain(message);
  });
});

const claim = (status: object, metadata: object = {}) => ({ metadata: { name: "c", ...metadata }, spec: {}, status });
const token = (boundObjectRef?: object) => ({
  metadata: {},
  spec: boundObjectRef === undefined ? {} : { boundObjectRef },
});
const bound = { kind: "Pod", apiVersion: "v1", name: "p", uid: "u1" };

test.each<[string, ResourceText, Parts, string]>([
  ["deletes its pod", "/pods", { operation: "DELETE", name: "p", oldObject: podOf("n1") }, ""],
  [
    "deletes another's",
    "/pods",
    { operation: "DELETE", name: "p", oldObject: podOf("n2") },
    'node "n1" can only delete pods with spec.nodeName set to itself',
  ],
  [
    "changes a pod",
    "/pods",
    { operation: "UPDATE", object: podOf("n1"), oldObject: podOf("n1") },
    "can only create and delete mirror pods",
  ],
  ["runs in a pod", "/pods", { subresource: "exec", object: { metadata: {} } }, 'unexpected pod subresource "exec"'],
  [
    "reports a pod's status",
    "/pods",
    { operation: "UPDATE", subresource: "status", object: podOf("n1"), oldObject: podOf("n1") },
    "",
  ],
  [
    "reports another's",
    "/pods",
    { operation: "UPDATE", subresource: "status", object: podOf("n2"), oldObject: podOf("n2") },
    "can only update pod status for pods",
  ],
  [
    "labels a pod through its status",
    "/pods",
    {
      operation: "UPDATE",
      subresource: "status",
      object: podOf("n1", { metadata: { labels: { a: "b" } } }),
      oldObject: podOf("n1", { metadata: {} }),
    },
    "cannot update labels through pod status",
  ],
  [
    "takes a claim through a status",
    "/pods",
    {
      operation: "UPDATE",
      subresource: "status",
      object: podOf("n1", { status: { resourceClaimStatuses: [{ name: "a" }] } }),
      oldObject: podOf("n1"),
    },
    "cannot update resource claim statuses",
  ],
  ["evicts its pod", "/pods", { subresource: "eviction", name: "p", object: {} }, ""],
  ["evicts a missing one", "/pods", { subresource: "eviction", name: "q", object: {} }, 'pods "q" not found'],
  [
    "reports a claim's size",
    "/persistentvolumeclaims",
    { operation: "UPDATE", subresource: "status", object: claim({ capacity: { storage: "1" } }), oldObject: claim({}) },
    "",
  ],
  [
    "changes a claim's phase",
    "/persistentvolumeclaims",
    { operation: "UPDATE", subresource: "status", object: claim({ phase: "Bound" }), oldObject: claim({}) },
    "fields other than status.capacity",
  ],
  [
    "changes a claim",
    "/persistentvolumeclaims",
    { operation: "UPDATE", object: claim({}), oldObject: claim({}) },
    "may only update PVC status",
  ],
  ["asks for its pod's token", "/serviceaccounts", { subresource: "token", name: "a", object: token(bound) }, ""],
  [
    "asks for any token",
    "/serviceaccounts",
    { subresource: "token", name: "a", object: token() },
    "node requested token not bound to a pod",
  ],
  [
    "asks without a uid",
    "/serviceaccounts",
    { subresource: "token", name: "a", object: token({ ...bound, uid: "" }) },
    "pod binding without a uid",
  ],
  [
    "asks for an earlier pod",
    "/serviceaccounts",
    { subresource: "token", name: "a", object: token({ ...bound, uid: "u0" }) },
    "the UID in the bound object reference (u0) does not match",
  ],
  [
    "takes another's lease",
    "coordination.k8s.io/leases",
    { namespace: "kube-node-lease", name: "n2", object: {} },
    "can only access node lease with the same name",
  ],
  [
    "takes a lease elsewhere",
    "coordination.k8s.io/leases",
    { namespace: "ns", name: "n1", object: {} },
    'can only access leases in the "kube-node-lease" system namespace',
  ],
  [
    "takes another's CSINode",
    "storage.k8s.io/csinodes",
    { name: "n2", object: {} },
    "can only access CSINode with the same name",
  ],
  [
    "publishes another's slice",
    "resource.k8s.io/resourceslices",
    { object: { metadata: {}, spec: { nodeName: "n2" } } },
    "can only create ResourceSlice with the same NodeName",
  ],
  [
    "asks for another's certificate",
    "certificates.k8s.io/certificatesigningrequests",
    { object: { metadata: {}, spec: { signerName: "kubernetes.io/kubelet-serving", request: "" } } },
    "can only create a node CSR with CN=system:node:n1",
  ],
  ["writes a config map", "/configmaps", { object: { metadata: {} } }, ""],
])("a node %s", (_what, resource, parts, message) => {
  const text = refusal(resource, parts);
  if (message === "") expect(text).toBe("");
  else expect(text).toContain(message);
});

test("other users are ignored, and a node without a name is rejected", () => {
  expect(refusal("/nodes", { name: "n2", object: {} }, { ...node, groups: [] })).toBe("");
  expect(refusal("/nodes", { name: "n2", object: {} }, { ...node, name: "system:node:" })).toContain(
    "could not determine node",
  );
});
