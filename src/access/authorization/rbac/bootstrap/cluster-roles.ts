import type { JsonObject } from "../../../../api/json.ts";
import { allow, allowEvents, allowUrls, read, readWrite, write } from "./rule.ts";

/** A default ClusterRole. One with a feature gate exists only while the gate is on. */
export interface DefaultRole {
  readonly name: string;
  readonly rules: readonly GatedRule[];
  /** The role that aggregates these rules by their label. */
  readonly aggregateTo?: "admin" | "edit" | "view";
  /** Label of the roles whose rules this role aggregates. */
  readonly aggregates?: "admin" | "edit" | "view";
  readonly gate?: string;
}
export type GatedRule = JsonObject | { readonly gate: string; readonly rule: JsonObject };

const discoveryUrls = "/api /api/* /apis /apis/* /openapi /openapi/*";
const publicUrls = "/healthz /livez /readyz /version /version/";

/** The rules of every node. The Node authorizer decides about objects, and admission about fields. */
export const nodeRules: readonly GatedRule[] = [
  allow("create", "authentication.k8s.io", "tokenreviews"),
  allow("create", "authorization.k8s.io", "localsubjectaccessreviews subjectaccessreviews"),
  allow(read, "core", "services"),
  allow("create get list watch", "core", "nodes"),
  allow("patch update", "core", "nodes/status"),
  allow("patch update", "core", "nodes"),
  allowEvents,
  allow(read, "core", "pods"),
  allow("create delete", "core", "pods"),
  allow("patch update", "core", "pods/status"),
  allow("create", "core", "pods/eviction"),
  allow(read, "core", "configmaps secrets"),
  allow("get", "core", "persistentvolumeclaims persistentvolumes"),
  allow("get", "core", "endpoints"),
  allow("create get list watch", "certificates.k8s.io", "certificatesigningrequests"),
  allow("create delete get patch update", "coordination.k8s.io", "leases"),
  allow("get", "storage.k8s.io", "volumeattachments"),
  allow("create", "core", "serviceaccounts/token"),
  allow("get patch update", "core", "persistentvolumeclaims/status"),
  allow(read, "storage.k8s.io", "csidrivers"),
  allow("create delete get patch update", "storage.k8s.io", "csinodes"),
  allow(read, "node.k8s.io", "runtimeclasses"),
  allow("get", "resource.k8s.io", "resourceclaims"),
  allow("deletecollection", "resource.k8s.io", "resourceslices"),
  { gate: "ClusterTrustBundle", rule: allow(read, "certificates.k8s.io", "clustertrustbundles") },
  {
    gate: "PodCertificateRequest",
    rule: allow("create get list watch", "certificates.k8s.io", "podcertificaterequests"),
  },
  allow("get", "core", "serviceaccounts"),
];

export const defaultClusterRoles: readonly DefaultRole[] = [
  { name: "cluster-admin", rules: [allow("*", "*", "*"), allowUrls("*", "*")] },
  { name: "admin", aggregates: "admin", rules: [] },
  { name: "edit", aggregates: "edit", aggregateTo: "admin", rules: [] },
  { name: "view", aggregates: "view", aggregateTo: "edit", rules: [] },
  {
    name: "system:aggregate-to-admin",
    aggregateTo: "admin",
    rules: [
      allow("create", "authorization.k8s.io", "localsubjectaccessreviews"),
      allow(readWrite, "rbac.authorization.k8s.io", "rolebindings roles"),
    ],
  },
  {
    name: "system:aggregate-to-edit",
    aggregateTo: "edit",
    rules: [
      allow(read, "core", "pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy"),
      allow("impersonate", "core", "serviceaccounts"),
      allow(write, "core", "pods pods/attach pods/exec pods/portforward pods/proxy"),
      allow("create", "core", "pods/eviction"),
      allow(
        write,
        "core",
        "configmaps persistentvolumeclaims replicationcontrollers replicationcontrollers/scale secrets serviceaccounts services services/proxy",
      ),
      allow("create", "core", "serviceaccounts/token"),
      allow(write, "core events.k8s.io", "events"),
      allow(
        write,
        "apps",
        "daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets statefulsets/scale",
      ),
      allow(write, "autoscaling", "horizontalpodautoscalers"),
      allow(write, "batch", "cronjobs jobs"),
      allow(
        write,
        "extensions",
        "daemonsets deployments deployments/rollback deployments/scale ingresses networkpolicies replicasets replicasets/scale replicationcontrollers/scale",
      ),
      allow(write, "policy", "poddisruptionbudgets"),
      allow(write, "networking.k8s.io", "ingresses networkpolicies"),
      allow(readWrite, "coordination.k8s.io", "leases"),
      allow(write, "resource.k8s.io", "resourceclaims resourceclaimtemplates"),
    ],
  },
  {
    name: "system:aggregate-to-view",
    aggregateTo: "view",
    rules: [
      allow(
        read,
        "core",
        "configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status",
      ),
      allow(
        read,
        "core",
        "bindings limitranges namespaces/status pods/log pods/status replicationcontrollers/status resourcequotas resourcequotas/status",
      ),
      allow(read, "core", "namespaces"),
      allow(read, "core events.k8s.io", "events"),
      allow(read, "discovery.k8s.io", "endpointslices"),
      allow(
        read,
        "apps",
        "controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status replicasets replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status",
      ),
      allow(read, "autoscaling", "horizontalpodautoscalers horizontalpodautoscalers/status"),
      allow(read, "batch", "cronjobs cronjobs/status jobs jobs/status"),
      allow(
        read,
        "extensions",
        "daemonsets daemonsets/status deployments deployments/scale deployments/status ingresses ingresses/status networkpolicies replicasets replicasets/scale replicasets/status replicationcontrollers/scale",
      ),
      allow(read, "policy", "poddisruptionbudgets poddisruptionbudgets/status"),
      allow(read, "networking.k8s.io", "ingresses ingresses/status networkpolicies"),
      allow(read, "resource.k8s.io", "resourceclaims resourceclaims/status resourceclaimtemplates"),
    ],
  },
  { name: "system:discovery", rules: [allowUrls("get", `${discoveryUrls} ${publicUrls}`)] },
  {
    name: "system:monitoring",
    rules: [
      allowUrls("get", "/flagz /healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz /readyz/* /statusz"),
      allow("get", "core", "nodes/metrics"),
    ],
  },
  {
    name: "system:basic-user",
    rules: [
      allow("create", "authorization.k8s.io", "selfsubjectaccessreviews selfsubjectrulesreviews"),
      allow("create", "authentication.k8s.io", "selfsubjectreviews"),
    ],
  },
  { name: "system:public-info-viewer", rules: [allowUrls("get", publicUrls)] },
  {
    name: "system:heapster",
    rules: [allow(read, "core", "events namespaces nodes pods"), allow(read, "extensions", "deployments")],
  },
  { name: "system:node", rules: nodeRules },
  {
    name: "system:node-problem-detector",
    rules: [allow("get", "core", "nodes"), allow("patch", "core", "nodes/status"), allowEvents],
  },
  {
    name: "system:kubelet-api-admin",
    rules: [
      allow(read, "core", "nodes"),
      allow("proxy", "core", "nodes"),
      allow("*", "core", "nodes/log nodes/metrics nodes/proxy nodes/stats"),
      allow("*", "core", "nodes/configz nodes/healthz nodes/pods"),
    ],
  },
  {
    name: "system:node-bootstrapper",
    rules: [allow("create get list watch", "certificates.k8s.io", "certificatesigningrequests")],
  },
  {
    name: "system:auth-delegator",
    rules: [
      allow("create", "authentication.k8s.io", "tokenreviews"),
      allow("create", "authorization.k8s.io", "subjectaccessreviews"),
    ],
  },
  { name: "system:kube-aggregator", rules: [allow(read, "core", "endpoints services")] },
  {
    name: "system:kube-controller-manager",
    rules: [
      allowEvents,
      allow("create", "coordination.k8s.io", "leases"),
      allow("get update", "coordination.k8s.io", "leases", "kube-controller-manager"),
      allow("create", "core", "secrets serviceaccounts"),
      allow("delete", "core", "secrets"),
      allow("get", "core", "configmaps namespaces secrets serviceaccounts"),
      allow("update", "core", "secrets serviceaccounts"),
      allow("create", "authentication.k8s.io", "tokenreviews"),
      allow("create", "authorization.k8s.io", "subjectaccessreviews"),
      allow("list watch", "*", "*"),
      allow("create", "core", "serviceaccounts/token"),
    ],
  },
  { name: "system:kube-dns", rules: [allow("list watch", "core", "endpoints services")] },
  {
    name: "system:persistent-volume-provisioner",
    rules: [
      allow("create delete get list watch", "core", "persistentvolumes"),
      allow("get list update watch", "core", "persistentvolumeclaims"),
      allow(read, "storage.k8s.io", "storageclasses"),
      allow("watch", "core", "events"),
      allowEvents,
    ],
  },
  {
    name: "system:certificates.k8s.io:certificatesigningrequests:nodeclient",
    rules: [allow("create", "certificates.k8s.io", "certificatesigningrequests/nodeclient")],
  },
  {
    name: "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient",
    rules: [allow("create", "certificates.k8s.io", "certificatesigningrequests/selfnodeclient")],
  },
  {
    name: "system:volume-scheduler",
    rules: [
      allow("get list patch update watch", "core", "persistentvolumes"),
      allow(read, "storage.k8s.io", "storageclasses"),
      allow("get list patch update watch", "core", "persistentvolumeclaims"),
    ],
  },
  approver("legacy-unknown"),
  approver("kubelet-serving"),
  approver("kube-apiserver-client"),
  approver("kube-apiserver-client-kubelet"),
  {
    name: "system:service-account-issuer-discovery",
    rules: [
      allowUrls(
        "get",
        "/.well-known/openid-configuration /.well-known/openid-configuration/ /openid/v1/jwks /openid/v1/jwks/",
      ),
    ],
  },
  {
    name: "system:node-proxier",
    rules: [
      allow("list watch", "core", "endpoints services"),
      allow(read, "core", "nodes"),
      allowEvents,
      allow("list watch", "networking.k8s.io", "servicecidrs"),
      allow("list watch", "discovery.k8s.io", "endpointslices"),
    ],
  },
  {
    name: "system:kube-scheduler",
    rules: [
      allowEvents,
      allow("create", "coordination.k8s.io", "leases"),
      allow("get list update watch", "coordination.k8s.io", "leases", "kube-scheduler"),
      allow(readWrite, "coordination.k8s.io", "leasecandidates"),
      allow(read, "core", "nodes"),
      allow("delete get list watch", "core", "pods"),
      allow("create", "core", "bindings pods/binding"),
      allow("patch update", "core", "pods/status"),
      allow(read, "core", "replicationcontrollers services"),
      allow(read, "apps extensions", "replicasets"),
      allow(read, "apps", "statefulsets"),
      allow(read, "policy", "poddisruptionbudgets"),
      allow(read, "core", "persistentvolumeclaims persistentvolumes"),
      allow("create", "authentication.k8s.io", "tokenreviews"),
      allow("create", "authorization.k8s.io", "subjectaccessreviews"),
      allow(read, "storage.k8s.io", "csinodes"),
      allow(read, "storage.k8s.io", "volumeattachments"),
      allow(read, "core", "namespaces"),
      allow(read, "storage.k8s.io", "csidrivers"),
      allow(read, "storage.k8s.io", "csistoragecapacities"),
      allow(read, "resource.k8s.io", "deviceclasses"),
      allow("get list patch update watch", "resource.k8s.io", "resourceclaims"),
      allow("get list patch update watch", "resource.k8s.io", "resourceclaims/status"),
      allow("update", "core", "pods/finalizers"),
      allow(read, "resource.k8s.io", "resourceslices"),
      allow("create delete", "resource.k8s.io", "resourceclaims"),
      allow("patch update", "resource.k8s.io", "resourceclaims/binding"),
      { gate: "DRADeviceTaintRules", rule: allow(read, "resource.k8s.io", "devicetaintrules") },
      { gate: "GenericWorkload", rule: allow(read, "scheduling.k8s.io", "podgroups workloads") },
    ],
  },
  {
    name: "system:cluster-trust-bundle-discovery",
    gate: "ClusterTrustBundle",
    rules: [allow(read, "certificates.k8s.io", "clustertrustbundles")],
  },
];

function approver(signer: string): DefaultRole {
  return {
    name: `system:certificates.k8s.io:${signer}-approver`,
    rules: [allow("approve", "certificates.k8s.io", "signers", `kubernetes.io/${signer}`)],
  };
}
