import { type ResourceAttributes, selectorsOf } from "../attributes.ts";
import { type Authorizer, type Decision, noOpinion } from "../authorizer.ts";
import { GrantIndex } from "../rbac/grant-index.ts";
import type { PolicyRule } from "../rbac/policy-rule.ts";
import type { NodeGraph } from "./node-graph.ts";
import { nodeIdentity } from "./node-identity.ts";

const allowed: Decision = { kind: "allow", reason: "" };
const leaseNamespace = "kube-node-lease";

type Judge = (graph: NodeGraph, node: string, attributes: ResourceAttributes) => Decision;

/** Resources of which a node may only use some objects, by group and resource. */
const judges: ReadonlyMap<string, Judge> = new Map<string, Judge>([
  ["/secrets", readRelated],
  ["/configmaps", readRelated],
  ["/persistentvolumeclaims", claims],
  ["/persistentvolumes", getRelated],
  ["/serviceaccounts", accounts],
  ["/nodes", nodes],
  ["/pods", pods],
  ["storage.k8s.io/volumeattachments", getRelated],
  ["storage.k8s.io/csinodes", ownCsiNode],
  ["coordination.k8s.io/leases", ownLease],
  ["resource.k8s.io/resourceclaims", getRelated],
  ["resource.k8s.io/resourceslices", slices],
  ["certificates.k8s.io/podcertificaterequests", certificateRequests],
]);

/** Allows nodes the requests that their own pods need. The NodeRestriction admission checks the contents of objects. */
export function nodeAuthorizer(graph: NodeGraph, rules: readonly PolicyRule[]): Authorizer {
  const index = new GrantIndex<true>();
  for (const rule of rules) index.add(rule, true);
  return {
    authorize(user, attributes) {
      const node = nodeIdentity(user);
      if (node === undefined) return noOpinion;
      if (node === "") return no(`unknown node for user ${JSON.stringify(user.name)}`);
      if (attributes.kind === "resource") {
        const judge = judges.get(`${attributes.group}/${attributes.resource}`);
        if (judge !== undefined) return judge(graph, node, attributes);
      }
      return index.find(attributes) === true ? allowed : noOpinion;
    },
    rulesFor(user) {
      if (nodeIdentity(user) === undefined) return { rules: [], incomplete: false, errors: [] };
      const error = "node authorizer does not support user rule resolution";
      return { rules: [], incomplete: true, errors: [error] };
    },
  };
}

function related(graph: NodeGraph, node: string, { resource, namespace, name }: ResourceAttributes): Decision {
  if (name === "") return no("No Object name found");
  return graph.reaches(node, resource, namespace, name) ? allowed : unrelated(node);
}

function readRelated(graph: NodeGraph, node: string, attributes: ResourceAttributes): Decision {
  const { verb, subresource, namespace } = attributes;
  if (verb !== "get" && verb !== "list" && verb !== "watch") return no("can only read resources of this type");
  if (subresource !== "") return no("cannot read subresource");
  if (namespace === "") return no("can only read namespaced object of this type");
  return related(graph, node, attributes);
}

function getRelated(graph: NodeGraph, node: string, attributes: ResourceAttributes): Decision {
  if (attributes.verb !== "get") return no("can only get individual resources of this type");
  if (attributes.subresource !== "") return no("cannot get subresource");
  return related(graph, node, attributes);
}

function claims(graph: NodeGraph, node: string, attributes: ResourceAttributes): Decision {
  const { verb, subresource } = attributes;
  if (subresource !== "status") return getRelated(graph, node, attributes);
  if (verb !== "update" && verb !== "patch") return no("can only get/update/patch this type");
  return related(graph, node, attributes);
}

function accounts(graph: NodeGraph, node: string, attributes: ResourceAttributes): Decision {
  const { verb, subresource, name } = attributes;
  if (subresource === "") return getRelated(graph, node, attributes);
  if (subresource !== "token") return no("can only create token subresource of serviceaccount");
  if (verb !== "create" || name === "") return no("can only create tokens for individual service accounts");
  return related(graph, node, attributes);
}

function nodes(_graph: NodeGraph, node: string, { verb, subresource, name }: ResourceAttributes): Decision {
  if (subresource === "status") return verb === "update" || verb === "patch" ? allowed : noOpinion;
  if (subresource !== "") return noOpinion;
  switch (verb) {
    // Admission ensures that it is the node's own.
    case "create":
    case "update":
    case "patch":
      return allowed;
    // The graph does not decide this, because a node looks for itself before it exists.
    case "get":
    case "list":
    case "watch":
      if (name === node) return allowed;
      if (name === "") return no(`node '${node}' cannot read all nodes, only its own Node object`);
      return no(`node '${node}' cannot read '${name}', only its own Node object`);
    default:
      return noOpinion;
  }
}

function pods(graph: NodeGraph, node: string, attributes: ResourceAttributes): Decision {
  const { verb, subresource, name } = attributes;
  if (subresource === "status") return verb === "update" || verb === "patch" ? allowed : noOpinion;
  if (subresource === "eviction") return verb === "create" ? allowed : noOpinion;
  if (subresource !== "") return noOpinion;
  switch (verb) {
    case "get":
      return related(graph, node, attributes);
    case "list":
    case "watch":
      if (selectsNode(attributes, node)) return allowed;
      if (name !== "") return related(graph, node, attributes);
      return no("can only list/watch pods with spec.nodeName field selector");
    // Admission ensures that they are mirror pods of the node itself.
    case "create":
    case "delete":
      return allowed;
    default:
      return noOpinion;
  }
}

function ownLease(_graph: NodeGraph, node: string, { verb, namespace, name }: ResourceAttributes): Decision {
  if (!isOwnVerb(verb)) return no("can only get, create, update, patch, or delete a node lease");
  if (namespace !== leaseNamespace) return no(`can only access leases in the "${leaseNamespace}" system namespace`);
  // A creation has no name yet, so admission checks it.
  if (verb === "create" || name === node) return allowed;
  return no("can only access node lease with the same name as the requesting node");
}

function ownCsiNode(_graph: NodeGraph, node: string, { verb, subresource, name }: ResourceAttributes): Decision {
  if (!isOwnVerb(verb)) return no("can only get, create, update, patch, or delete a CSINode");
  if (subresource !== "") return no("cannot authorize CSINode subresources");
  if (verb === "create" || name === node) return allowed;
  return no("can only access CSINode with the same name as the requesting node");
}

function slices(graph: NodeGraph, node: string, attributes: ResourceAttributes): Decision {
  const { verb, subresource } = attributes;
  if (subresource !== "") return no("cannot authorize ResourceSlice subresources");
  switch (verb) {
    case "create":
      return allowed;
    case "get":
    case "update":
    case "patch":
    case "delete":
      return related(graph, node, attributes);
    case "list":
    case "watch":
    case "deletecollection":
      if (selectsNode(attributes, node)) return allowed;
      return no(`can only ${verb} resourceslices with spec.nodeName field selector`);
    default:
      return no(
        "only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection",
      );
  }
}

function certificateRequests(graph: NodeGraph, node: string, attributes: ResourceAttributes): Decision {
  const { verb, subresource } = attributes;
  if (subresource !== "") return no("cannot authorize PodCertificateRequest subresources");
  if (verb === "create") return allowed;
  if (verb === "get") return related(graph, node, attributes);
  if (verb !== "list" && verb !== "watch") return no("can only get, list, watch or create a PodCertificateRequest");
  if (selectsNode(attributes, node)) return allowed;
  return no("can only list/watch podcertificaterequests with spec.nodeName field selector");
}

function selectsNode(attributes: ResourceAttributes, node: string): boolean {
  return selectorsOf(attributes).fields.some(
    ({ label, operator, value }) => label === "spec.nodeName" && operator === "=" && value === node,
  );
}

function isOwnVerb(verb: string): boolean {
  return verb === "get" || verb === "create" || verb === "update" || verb === "patch" || verb === "delete";
}

function unrelated(node: string): Decision {
  return no(`no relationship found between node '${node}' and this object`);
}

function no(reason: string): Decision {
  return { kind: "noOpinion", reason };
}
