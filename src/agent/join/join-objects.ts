import type { JsonObject } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { formatTime } from "../../api/time.ts";
import type { ResourceType } from "../../client/client.ts";
import { type JoinToken, joinTokenName, joinTokenNamespace } from "../../cluster/join-token.ts";
import { agentUsersBinding } from "../agent-users.ts";

/** Group of the tokens, and names of the bindings: kubeadm's, so that its clusters have them already. */
const tokenGroup = "system:bootstrappers:kubeadm:default-node-token";

const secretType: ResourceType = { group: "", version: "v1", resource: "secrets" };
const bindingType: ResourceType = {
  group: "rbac.authorization.k8s.io",
  version: "v1",
  resource: "clusterrolebindings",
};

/** An object that lets machines join. */
export interface JoinObject {
  readonly type: ResourceType;
  readonly object: KubeObject;
}

/**
 * Returns the bindings that let machines request a node's certificate with a token, have it approved, and renew it, and
 * the one that lets API servers use their agents. They stay when tokens expire.
 */
export function joinBindings(): JoinObject[] {
  const approve = "system:certificates.k8s.io:certificatesigningrequests";
  return [
    binding("kubeadm:kubelet-bootstrap", "system:node-bootstrapper", tokenGroup),
    binding("kubeadm:node-autoapprove-bootstrap", `${approve}:nodeclient`, tokenGroup),
    binding("kubeadm:node-autoapprove-certificate-rotation", `${approve}:selfnodeclient`, "system:nodes"),
    { type: bindingType, object: agentUsersBinding() as KubeObject },
  ];
}

function binding(name: string, role: string, group: string): JoinObject {
  const apiGroup = "rbac.authorization.k8s.io";
  const object = {
    kind: "ClusterRoleBinding",
    apiVersion: `${apiGroup}/v1`,
    metadata: { name },
    subjects: [{ kind: "Group", apiGroup, name: group }],
    roleRef: { apiGroup, kind: "ClusterRole", name: role },
  };
  return { type: bindingType, object };
}

/** Returns the Secret of a token with which machines become nodes until it expires. */
export function joinTokenObject({ id, secret }: JoinToken, expirationMs: number, description: string): JoinObject {
  const stringData: JsonObject = {
    "token-id": id,
    "token-secret": secret,
    expiration: formatTime(expirationMs),
    "usage-bootstrap-authentication": "true",
    "usage-bootstrap-signing": "true",
    "auth-extra-groups": tokenGroup,
    ...(description === "" ? {} : { description }),
  };
  const object = {
    kind: "Secret",
    apiVersion: "v1",
    metadata: { name: joinTokenName(id), namespace: joinTokenNamespace },
    type: "bootstrap.kubernetes.io/token",
    stringData,
  };
  return { type: secretType, object };
}
