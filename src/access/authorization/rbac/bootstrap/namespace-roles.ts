import type { JsonObject } from "../../../../api/json.ts";
import { allow, allowEvents, read } from "./rule.ts";

export interface DefaultNamespaceRole {
  readonly namespace: "kube-system" | "kube-public";
  readonly name: string;
  readonly rules: readonly JsonObject[];
}

const leaderElection = ["leases", "leasecandidates"].map((resource) =>
  allow("create get list update watch", "coordination.k8s.io", resource),
);

export const defaultNamespaceRoles: readonly DefaultNamespaceRole[] = [
  {
    namespace: "kube-system",
    name: "extension-apiserver-authentication-reader",
    rules: [allow(read, "core", "configmaps", "extension-apiserver-authentication")],
  },
  { namespace: "kube-system", name: "system:controller:bootstrap-signer", rules: [allow(read, "core", "secrets")] },
  {
    namespace: "kube-system",
    name: "system:controller:cloud-provider",
    rules: [allow("create get list watch", "core", "configmaps")],
  },
  {
    namespace: "kube-system",
    name: "system:controller:token-cleaner",
    rules: [allow("delete get list watch", "core", "secrets"), allowEvents],
  },
  {
    namespace: "kube-system",
    name: "system::leader-locking-kube-controller-manager",
    rules: leaderElection,
  },
  {
    namespace: "kube-system",
    name: "system::leader-locking-kube-scheduler",
    rules: leaderElection,
  },
  {
    namespace: "kube-public",
    name: "system:controller:bootstrap-signer",
    rules: [allow(read, "core", "configmaps"), allow("update", "core", "configmaps", "cluster-info"), allowEvents],
  },
];
