/** A subject as `User x`, `Group x` or `ServiceAccount namespace/x`. */
export type SubjectText = string;

export interface DefaultBinding {
  /** Namespace; "" for a ClusterRoleBinding. */
  readonly namespace: string;
  readonly name: string;
  /** Name of a ClusterRole for a ClusterRoleBinding, otherwise of a Role in the namespace. */
  readonly role: string;
  readonly subjects: readonly SubjectText[];
  readonly gate?: string;
}

export const defaultBindings: readonly DefaultBinding[] = [
  cluster("cluster-admin", "Group system:masters"),
  cluster("system:monitoring", "Group system:monitoring"),
  cluster("system:discovery", "Group system:authenticated"),
  cluster("system:basic-user", "Group system:authenticated"),
  cluster("system:public-info-viewer", "Group system:authenticated", "Group system:unauthenticated"),
  cluster("system:node-proxier", "User system:kube-proxy"),
  cluster("system:kube-controller-manager", "User system:kube-controller-manager"),
  cluster("system:kube-dns", "ServiceAccount kube-system/kube-dns"),
  cluster("system:kube-scheduler", "User system:kube-scheduler"),
  cluster("system:volume-scheduler", "User system:kube-scheduler"),
  // The Node authorizer has replaced this binding. It remains so that a cluster can add subjects.
  cluster("system:node"),
  cluster("system:service-account-issuer-discovery", "Group system:serviceaccounts"),
  {
    ...cluster("system:cluster-trust-bundle-discovery", "Group system:serviceaccounts"),
    gate: "ClusterTrustBundle",
  },
  {
    namespace: "kube-system",
    name: "system::extension-apiserver-authentication-reader",
    role: "extension-apiserver-authentication-reader",
    subjects: ["User system:kube-controller-manager", "User system:kube-scheduler"],
  },
  inNamespace(
    "kube-system",
    "system::leader-locking-kube-controller-manager",
    "User system:kube-controller-manager",
    "ServiceAccount kube-system/kube-controller-manager",
    "ServiceAccount kube-system/leader-election-controller",
  ),
  inNamespace(
    "kube-system",
    "system::leader-locking-kube-scheduler",
    "User system:kube-scheduler",
    "ServiceAccount kube-system/kube-scheduler",
  ),
  inNamespace("kube-system", "system:controller:bootstrap-signer", "ServiceAccount kube-system/bootstrap-signer"),
  inNamespace("kube-system", "system:controller:cloud-provider", "ServiceAccount kube-system/cloud-provider"),
  inNamespace("kube-system", "system:controller:token-cleaner", "ServiceAccount kube-system/token-cleaner"),
  inNamespace("kube-public", "system:controller:bootstrap-signer", "ServiceAccount kube-system/bootstrap-signer"),
];

function cluster(name: string, ...subjects: SubjectText[]): DefaultBinding {
  return { namespace: "", name, role: name, subjects };
}

function inNamespace(namespace: string, name: string, ...subjects: SubjectText[]): DefaultBinding {
  return { namespace, name, role: name, subjects };
}
