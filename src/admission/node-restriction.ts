import { nodeIdentity } from "../access/authorization/node/node-identity.ts";
import { podReferences } from "../access/authorization/node/references.ts";
import { equalJson, type JsonObject } from "../api/json.ts";
import { isRestrictedNodeLabel } from "../api/node-labels.ts";
import type { KubeObject } from "../api/object-meta.ts";
import { status } from "../api/status.ts";
import type { TokenRequest } from "../api/types/authentication-v1.ts";
import type { CertificateSigningRequest } from "../api/types/certificates-v1.ts";
import type { PodCertificateRequest } from "../api/types/certificates-v1beta1.ts";
import type { Node, PersistentVolumeClaim, Pod, Volume } from "../api/types/core-v1.ts";
import type { ResourceSlice } from "../api/types/resource-v1.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../registry/admission.ts";
import type { ObjectLookup } from "../registry/object-lookup.ts";
import { refuse } from "./attributes.ts";
import { podSpecOf } from "./pod.ts";
import { requestedCommonName, signerNameOf } from "./signing-request.ts";

const mirrorAnnotation = "kubernetes.io/config.mirror";
const leaseNamespace = "kube-node-lease";
const nodeSigners = new Set(["kubernetes.io/kubelet-serving", "kubernetes.io/kube-apiserver-client-kubelet"]);

interface Request {
  readonly node: string;
  readonly attributes: AdmissionAttributes;
  readonly lookup: ObjectLookup;
}
type Rule = (request: Request) => void;

const rules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ["/pods", pods],
  ["/nodes", ownNode],
  ["/persistentvolumeclaims", claimStatus],
  ["/serviceaccounts", accountToken],
  ["coordination.k8s.io/leases", ownLease],
  ["storage.k8s.io/csinodes", ownCsiNode],
  ["resource.k8s.io/resourceslices", ownSlice],
  ["certificates.k8s.io/certificatesigningrequests", ownCertificate],
  ["certificates.k8s.io/podcertificaterequests", certificateOfPod],
]);

/**
 * Restricts nodes to their own objects: themselves, the status of their pods, mirror pods and tokens for their pods.
 */
export function nodeRestriction({ lookup }: { readonly lookup: ObjectLookup }): AdmissionPlugin {
  return {
    name: "NodeRestriction",
    admit(attributes) {
      const node = nodeIdentity(attributes.user);
      if (node === undefined) return;
      if (node === "") {
        throw refuse(attributes, `could not determine node from user ${JSON.stringify(attributes.user.name)}`);
      }
      rules.get(`${attributes.info.group}/${attributes.info.resource}`)?.({ node, attributes, lookup });
    },
  };
}

function pods(request: Request): void {
  const { attributes, node } = request;
  const { operation, subresource } = attributes;
  switch (subresource) {
    case "":
      if (operation === "CREATE") return mirrorPod(request);
      if (operation === "DELETE") return ownPod(request, "delete pods with spec.nodeName set to itself");
      throw refuse(
        attributes,
        `unexpected operation "UPDATE", node ${quote(node)} can only create and delete mirror pods`,
      );
    case "status":
      return podStatus(request);
    case "eviction":
      return ownPod(request, "evict pods with spec.nodeName set to itself");
    default:
      throw refuse(
        attributes,
        `unexpected pod subresource ${quote(subresource)}, only 'status' and 'eviction' are allowed`,
      );
  }
}

function ownPod({ node, attributes, lookup }: Request, what: string): void {
  const { namespace, name, oldObject } = attributes;
  const pod: Pod | undefined = oldObject ?? lookup.get({ group: "", resource: "pods" }, namespace, name);
  if (pod === undefined) throw status.notFound({ group: "", resource: "pods", name });
  if (nodeNameOf(pod) !== node) throw refuse(attributes, `node ${quote(node)} can only ${what}`);
}

function mirrorPod({ node, attributes, lookup }: Request): void {
  const pod = attributes.object as Pod;
  const who = `node ${quote(node)}`;
  if (pod.metadata.annotations?.[mirrorAnnotation] === undefined) {
    throw refuse(
      attributes,
      `pod does not have ${quote(mirrorAnnotation)} annotation, ${who} can only create mirror pods`,
    );
  }
  if (nodeNameOf(pod) !== node) {
    throw refuse(attributes, `${who} can only create pods with spec.nodeName set to itself`);
  }
  const problem = ownerProblem(pod, node, lookup) ?? referenceProblem(pod);
  if (problem !== undefined) throw refuse(attributes, problem.startsWith("node ") ? problem : `${who} ${problem}`);
}

/** Returns the problem with the owners. A mirror pod's only owner is its node. */
function ownerProblem({ metadata }: KubeObject, node: string, lookup: ObjectLookup): string | undefined {
  const [owner, ...others] = metadata.ownerReferences ?? [];
  if (others.length > 0) return "can only create pods with a single owner reference set to itself";
  if (owner?.apiVersion !== "v1" || owner.kind !== "Node" || owner.name !== node) {
    return "can only create pods with an owner reference set to itself";
  }
  if (owner.controller !== true) return "can only create pods with a controller owner reference set to itself";
  if (owner.blockOwnerDeletion === true) return "must not set blockOwnerDeletion on an owner reference";
  const found = lookup.get({ group: "", resource: "nodes" }, "", node);
  if (found === undefined) throw status.notFound({ group: "", resource: "nodes", name: node });
  if (owner.uid === found.metadata.uid) return undefined;
  return `node ${node} UID mismatch: expected ${owner.uid} got ${found.metadata.uid}`;
}

/**
 * Returns the problem with a pod's references. A node may read the objects its pods refer to, so it must not create
 * such pods.
 */
function referenceProblem(pod: Pod): string | undefined {
  const used = new Set(podReferences(pod as unknown as JsonObject, "ns", "pod").map((key) => key.split("/")[0]));
  const { volumes = [], resourceClaims = [] } = podSpecOf(pod);
  if (used.has("serviceaccounts")) return "can not create pods that reference a service account";
  if (used.has("secrets")) return "can not create pods that reference secrets";
  if (used.has("configmaps")) return "can not create pods that reference configmaps";
  if (volumes.some(bundlesTrust)) return "can not create pods that reference clustertrustbundles";
  if (used.has("persistentvolumeclaims")) return "can not create pods that reference persistentvolumeclaims";
  const { resourceClaimStatuses = [], extendedResourceClaimStatus } = pod.status ?? {};
  const claims = resourceClaims.length + resourceClaimStatuses.length;
  if (claims > 0 || extendedResourceClaimStatus !== undefined) {
    return "can not create pods that reference resourceclaims";
  }
  return undefined;
}

function bundlesTrust({ projected }: Volume): boolean {
  return (projected?.sources ?? []).some(({ clusterTrustBundle }) => clusterTrustBundle !== undefined);
}

function podStatus({ node, attributes }: Request): void {
  const { operation, object, oldObject } = attributes;
  if (operation !== "UPDATE" || object === undefined || oldObject === undefined) {
    throw refuse(attributes, `unexpected operation ${quote(operation)}`);
  }
  if (nodeNameOf(oldObject) !== node) {
    throw refuse(
      attributes,
      `node ${quote(node)} can only update pod status for pods with spec.nodeName set to itself`,
    );
  }
  if (!equalJson({ ...object.metadata.labels }, { ...oldObject.metadata.labels })) {
    throw refuse(attributes, `node ${quote(node)} cannot update labels through pod status`);
  }
  for (const name of ["resourceClaimStatuses", "extendedResourceClaimStatus"] as const) {
    if (!equalJson((object as Pod).status?.[name], (oldObject as Pod).status?.[name])) {
      throw refuse(attributes, `node ${quote(node)} cannot update resource claim statuses`);
    }
  }
}

function ownNode({ node, attributes }: Request): void {
  const { operation, name, object, oldObject } = attributes;
  if (name !== node) {
    throw refuse(attributes, `node ${quote(node)} is not allowed to modify node ${quote(name)}`);
  }
  if (object === undefined) return;
  const forbidden = forbiddenLabels(object.metadata.labels ?? {}, oldObject?.metadata.labels ?? {});
  // The owner of a node deletes it with itself.
  if (!equalJson(object.metadata.ownerReferences ?? [], oldObject?.metadata.ownerReferences ?? [])) {
    throw refuse(attributes, `node ${quote(node)} is not allowed to modify ownerReferences`);
  }
  if (operation === "CREATE") {
    if ((object as Node).spec?.configSource !== undefined) {
      throw refuse(attributes, `node ${quote(node)} is not allowed to create pods with a non-nil configSource`);
    }
    if (forbidden.length > 0) {
      const labels = forbidden.join(", ");
      throw refuse(attributes, `node ${quote(node)} is not allowed to set the following labels: ${labels}`);
    }
    return;
  }
  const { configSource, taints = [] } = (object as Node).spec ?? {};
  const old = (oldObject as Node | undefined)?.spec ?? {};
  if (configSource !== undefined && !equalJson(configSource, old.configSource)) {
    throw refuse(attributes, `node ${quote(node)} is not allowed to update configSource to a new non-nil configSource`);
  }
  if (!equalJson(taints, old.taints ?? [])) {
    throw refuse(attributes, `node ${quote(node)} is not allowed to modify taints`);
  }
  if (forbidden.length > 0) throw refuse(attributes, `is not allowed to modify labels: ${forbidden.join(", ")}`);
}

/**
 * Returns the labels added, changed or removed that a node must not set itself, because they decide which pods it gets.
 */
function forbiddenLabels(
  labels: Readonly<Record<string, string>>,
  old: Readonly<Record<string, string>>,
): readonly string[] {
  const keys = new Set([...Object.keys(labels), ...Object.keys(old)]);
  return [...keys].filter((key) => labels[key] !== old[key] && isRestrictedNodeLabel(key)).sort();
}

/** Fields of a claim's status that the node reports. All others stay unchanged. */
const claimStatusFields = ["capacity", "conditions", "allocatedResourceStatuses", "allocatedResources"];

function claimStatus({ node, attributes }: Request): void {
  const { operation, subresource, object, oldObject } = attributes;
  if (subresource !== "status") throw refuse(attributes, "may only update PVC status");
  if (operation !== "UPDATE" || object === undefined || oldObject === undefined) {
    throw refuse(attributes, `unexpected operation ${quote(operation)}`);
  }
  if (equalJson(withoutClaimReport(object), withoutClaimReport(oldObject))) return;
  throw refuse(
    attributes,
    `node ${quote(node)} is not allowed to update fields other than status.capacity and status.conditions`,
  );
}

function withoutClaimReport(claim: PersistentVolumeClaim): JsonObject {
  const { resourceVersion: _resourceVersion, managedFields: _managedFields, ...metadata } = claim.metadata;
  const kept = Object.entries(claim.status ?? {}).filter(([name]) => !claimStatusFields.includes(name));
  return { ...claim, metadata, status: Object.fromEntries(kept) } as unknown as JsonObject;
}

function accountToken({ node, attributes, lookup }: Request): void {
  const { operation, subresource, object, namespace } = attributes;
  if (operation !== "CREATE" || subresource !== "token") return;
  const { apiVersion, kind, name = "", uid = "" } = (object as TokenRequest | undefined)?.spec.boundObjectRef ?? {};
  if (apiVersion !== "v1" || kind !== "Pod" || name === "") {
    throw refuse(attributes, "node requested token not bound to a pod");
  }
  if (uid === "") throw refuse(attributes, "node requested token with a pod binding without a uid");
  const pod = lookup.get({ group: "", resource: "pods" }, namespace, name);
  if (pod === undefined) throw status.notFound({ group: "", resource: "pods", name });
  if (uid !== pod.metadata.uid) {
    throw refuse(
      attributes,
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  }
  if (nodeNameOf(pod) !== node) {
    throw refuse(attributes, "node requested token bound to a pod scheduled on a different node");
  }
}

function ownLease({ node, attributes }: Request): void {
  if (attributes.namespace !== leaseNamespace) {
    throw refuse(attributes, `can only access leases in the ${quote(leaseNamespace)} system namespace`);
  }
  if (attributes.name === node) return;
  throw refuse(attributes, "can only access node lease with the same name as the requesting node");
}

function ownCsiNode({ node, attributes }: Request): void {
  if (attributes.name === node) return;
  throw refuse(attributes, "can only access CSINode with the same name as the requesting node");
}

function ownSlice({ node, attributes }: Request): void {
  const { operation, object, oldObject } = attributes;
  const verb = operation === "CREATE" ? "create" : operation === "DELETE" ? "delete" : "update";
  if ([object, oldObject].every((slice) => slice === undefined || nodeNameOf(slice as ResourceSlice) === node)) return;
  throw refuse(attributes, `can only ${verb} ResourceSlice with the same NodeName as the requesting node`);
}

function ownCertificate({ node, attributes }: Request): void {
  const { operation, object, subresource } = attributes;
  if (operation !== "CREATE" || subresource !== "" || object === undefined) return;
  if (!nodeSigners.has(signerNameOf(object))) return;
  const { request } = (object as CertificateSigningRequest).spec;
  if (requestedCommonName(request ?? "") === `system:node:${node}`) return;
  throw refuse(attributes, `can only create a node CSR with CN=system:node:${node}`);
}

function certificateOfPod({ node, attributes, lookup }: Request): void {
  const { operation, subresource, object, namespace } = attributes;
  if (operation !== "CREATE" || subresource !== "") return;
  const { podName: name, podUID, nodeName } = (object as PodCertificateRequest).spec;
  if (nodeName !== node) {
    throw refuse(
      attributes,
      `PodCertificateRequest.Spec.NodeName=${quote(nodeName)}, which is not the requesting node ${quote(node)}`,
    );
  }
  const pod = lookup.get({ group: "", resource: "pods" }, namespace, name);
  if (pod === undefined) throw status.notFound({ group: "", resource: "pods", name });
  if (pod.metadata.uid !== podUID) {
    throw refuse(
      attributes,
      `PodCertificateRequest for pod ${quote(name)} contains pod UID ${quote(podUID)} which differs from running pod ${quote(pod.metadata.uid)}`,
    );
  }
  if (nodeNameOf(pod) !== node) {
    throw refuse(attributes, `pod ${quote(name)} is not running on node ${quote(node)}`);
  }
}

function nodeNameOf(object: Pod | ResourceSlice): string {
  return object.spec?.nodeName ?? "";
}

function quote(text: unknown): string {
  return JSON.stringify(text ?? "");
}
