import type { ClusterRoleBinding } from "../api/types/rbac-v1.ts";

const apiGroup = "rbac.authorization.k8s.io";

/**
 * Returns the binding that lets API servers use agents. Agents in Webhook mode ask for it, and upstream has none by
 * default, so it is made with the first token for machines and with simulated nodes.
 */
export function agentUsersBinding(): ClusterRoleBinding {
  return {
    kind: "ClusterRoleBinding",
    apiVersion: `${apiGroup}/v1`,
    metadata: { name: "quorate:kubelet-api-admin" },
    roleRef: { apiGroup, kind: "ClusterRole", name: "system:kubelet-api-admin" },
    // The user of an API server's certificate, here and in clusters of kubeadm.
    subjects: [{ kind: "User", apiGroup, name: "kube-apiserver-kubelet-client" }],
  };
}
