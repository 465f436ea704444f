import type { DefaultRole, GatedRule } from "./cluster-roles.ts";
import { allow, allowEvents, read } from "./rule.ts";

const signers =
  "kubernetes.io/kube-apiserver-client kubernetes.io/kube-apiserver-client-kubelet kubernetes.io/kubelet-serving kubernetes.io/legacy-unknown";

/** Rules of each controller, by its name: ClusterRole `system:controller:<name>`, bound to its service account. */
const controllers: Readonly<Record<string, readonly GatedRule[]>> = {
  "attachdetach-controller": [
    allow("list watch", "core", "persistentvolumeclaims persistentvolumes"),
    allow(read, "core", "nodes"),
    allow("patch update", "core", "nodes/status"),
    allow("list watch", "core", "pods"),
    allowEvents,
    allow("create delete get list watch", "storage.k8s.io", "volumeattachments"),
    allow(read, "storage.k8s.io", "csidrivers"),
    allow(read, "storage.k8s.io", "csinodes"),
  ],
  "clusterrole-aggregation-controller": [
    allow("escalate get list patch update watch", "rbac.authorization.k8s.io", "clusterroles"),
  ],
  "cronjob-controller": [
    allow("get list update watch", "batch", "cronjobs"),
    allow("create delete get list patch update watch", "batch", "jobs"),
    allow("update", "batch", "cronjobs/status"),
    allow("update", "batch", "cronjobs/finalizers"),
    allow("delete list watch", "core", "pods"),
    allowEvents,
  ],
  "daemon-set-controller": [
    allow(read, "apps extensions", "daemonsets"),
    allow("update", "apps extensions", "daemonsets/status"),
    allow("update", "apps extensions", "daemonsets/finalizers"),
    allow("list watch", "core", "nodes"),
    allow("create delete list patch watch", "core", "pods"),
    allow("create", "core", "pods/binding"),
    allow("create delete get list patch update watch", "apps", "controllerrevisions"),
    allowEvents,
  ],
  "deployment-controller": [
    allow("get list update watch", "apps extensions", "deployments"),
    allow("update", "apps extensions", "deployments/status"),
    allow("update", "apps extensions", "deployments/finalizers"),
    allow("create delete get list patch update watch", "apps extensions", "replicasets"),
    allow("get list update watch", "core", "pods"),
    allowEvents,
  ],
  "disruption-controller": [
    allow(read, "apps extensions", "deployments"),
    allow(read, "apps extensions", "replicasets"),
    allow(read, "core", "replicationcontrollers"),
    allow(read, "policy", "poddisruptionbudgets"),
    allow(read, "apps", "statefulsets"),
    allow("update", "policy", "poddisruptionbudgets/status"),
    allow("patch update", "core", "pods/status"),
    allow("get", "*", "*/scale"),
    allowEvents,
  ],
  "endpoint-controller": [
    allow(read, "core", "pods services"),
    allow("create delete get list update watch", "core", "endpoints"),
    allow("create", "core", "endpoints/restricted"),
    allowEvents,
  ],
  "endpointslice-controller": [
    allow(read, "core", "nodes pods services"),
    allow("update", "core", "services/finalizers"),
    allow("create delete get list update watch", "discovery.k8s.io", "endpointslices"),
    allowEvents,
  ],
  "endpointslicemirroring-controller": [
    allow(read, "core", "endpoints services"),
    allow("update", "core", "services/finalizers"),
    allow("update", "core", "endpoints/finalizers"),
    allow("create delete get list update watch", "discovery.k8s.io", "endpointslices"),
    allowEvents,
  ],
  "expand-controller": [
    allow("get list patch update watch", "core", "persistentvolumes"),
    allow("patch update", "core", "persistentvolumeclaims/status"),
    allow(read, "core", "persistentvolumeclaims"),
    allowEvents,
  ],
  "ephemeral-volume-controller": [
    allow(read, "core", "pods"),
    allow("update", "core", "pods/finalizers"),
    allow("create get list watch", "core", "persistentvolumeclaims"),
    allowEvents,
  ],
  "resource-claim-controller": [
    allow(read, "core", "pods"),
    allow("update", "core", "pods/finalizers"),
    allow("create delete get list watch", "resource.k8s.io", "resourceclaims"),
    allow("patch update", "resource.k8s.io", "resourceclaims resourceclaims/status"),
    allow("patch update", "core", "pods/status"),
    allowEvents,
    { gate: "DRAWorkloadResourceClaims", rule: allow(read, "scheduling.k8s.io", "podgroups") },
    { gate: "DRAWorkloadResourceClaims", rule: allow("patch update", "scheduling.k8s.io", "podgroups/status") },
    allow("patch update", "resource.k8s.io", "resourceclaims/binding"),
  ],
  "device-taint-eviction-controller": [
    allow("delete get list watch", "core", "pods"),
    allow("patch update", "core", "pods/status"),
    allow(read, "resource.k8s.io", "resourceclaims"),
    allow(read, "resource.k8s.io", "resourceslices"),
    allow(read, "resource.k8s.io", "deviceclasses"),
    allowEvents,
    { gate: "DRADeviceTaintRules", rule: allow("patch update", "resource.k8s.io", "devicetaintrules/status") },
    { gate: "DRADeviceTaintRules", rule: allow(read, "resource.k8s.io", "devicetaintrules") },
  ],
  "generic-garbage-collector": [allow("delete get list patch update watch", "*", "*"), allowEvents],
  "horizontal-pod-autoscaler": [
    allow(read, "autoscaling", "horizontalpodautoscalers"),
    allow("update", "autoscaling", "horizontalpodautoscalers/status"),
    allow("get update", "*", "*/scale"),
    allow("list watch", "core", "pods"),
    allow("list watch", "metrics.k8s.io", "pods"),
    allow(read, "custom.metrics.k8s.io", "*"),
    allow(read, "external.metrics.k8s.io", "*"),
    allowEvents,
  ],
  "job-controller": [
    allow("get list patch update watch", "batch", "jobs"),
    allow("update", "batch", "jobs/status"),
    allow("update", "batch", "jobs/finalizers"),
    allow("create delete list patch watch", "core", "pods"),
    allowEvents,
    {
      gate: "WorkloadWithJob",
      rule: allow("create get list patch update watch", "scheduling.k8s.io", "podgroups workloads"),
    },
  ],
  "namespace-controller": [
    allow("delete get list watch", "core", "namespaces"),
    allow("update", "core", "namespaces/finalize namespaces/status"),
    allow("delete deletecollection get list watch", "*", "*"),
  ],
  "node-controller": [
    allow("delete get list patch update watch", "core", "nodes"),
    allow("patch update", "core", "nodes/status"),
    allow("patch update", "core", "pods/status"),
    allow("delete get list watch", "core", "pods"),
    allowEvents,
  ],
  "persistent-volume-binder": [
    allow("create delete get list update watch", "core", "persistentvolumes"),
    allow("update", "core", "persistentvolumes/status"),
    allow("get list update watch", "core", "persistentvolumeclaims"),
    allow("update", "core", "persistentvolumeclaims/status"),
    allow("create delete get list watch", "core", "pods"),
    allow(read, "storage.k8s.io", "storageclasses"),
    allow("list watch", "core", "nodes"),
    allowEvents,
    allow("watch", "core", "events"),
  ],
  "pod-garbage-collector": [
    allow("delete list watch", "core", "pods"),
    allow(read, "core", "nodes"),
    allow("patch", "core", "pods/status"),
  ],
  "replicaset-controller": [
    allow("get list update watch", "apps extensions", "replicasets"),
    allow("update", "apps extensions", "replicasets/status"),
    allow("update", "apps extensions", "replicasets/finalizers"),
    allow("create delete list patch watch", "core", "pods"),
    allowEvents,
  ],
  "replication-controller": [
    allow("get list update watch", "core", "replicationcontrollers"),
    allow("update", "core", "replicationcontrollers/status"),
    allow("update", "core", "replicationcontrollers/finalizers"),
    allow("create delete list patch watch", "core", "pods"),
    allowEvents,
  ],
  "resourcequota-controller": [
    allow("list watch", "*", "*"),
    allow("update", "core", "resourcequotas/status"),
    allowEvents,
  ],
  "route-controller": [allow("list watch", "core", "nodes"), allow("patch", "core", "nodes/status"), allowEvents],
  "service-account-controller": [allow("create", "core", "serviceaccounts"), allowEvents],
  "service-controller": [
    allow(read, "core", "services"),
    allow("patch update", "core", "services/status"),
    allow("list watch", "core", "nodes"),
    allowEvents,
  ],
  "service-cidrs-controller": [
    allow("get list patch update watch", "networking.k8s.io", "servicecidrs"),
    allow("patch update", "networking.k8s.io", "servicecidrs/finalizers"),
    allow("patch update", "networking.k8s.io", "servicecidrs/status"),
    allow(read, "networking.k8s.io", "ipaddresses"),
    allowEvents,
  ],
  "statefulset-controller": [
    allow("list watch", "core", "pods"),
    allow(read, "apps", "statefulsets"),
    allow("update", "apps", "statefulsets/status"),
    allow("update", "apps", "statefulsets/finalizers"),
    allow("create delete get patch update", "core", "pods"),
    allow("create delete get list patch update watch", "apps", "controllerrevisions"),
    allow("create get list watch", "core", "persistentvolumeclaims"),
    allow("delete update", "core", "persistentvolumeclaims"),
    allow("update", "core", "pods/finalizers"),
    allowEvents,
  ],
  "ttl-controller": [allow("list patch update watch", "core", "nodes"), allowEvents],
  "certificate-controller": [
    allow("delete get list watch", "certificates.k8s.io", "certificatesigningrequests"),
    allow("update", "certificates.k8s.io", "certificatesigningrequests/approval certificatesigningrequests/status"),
    allow("approve", "certificates.k8s.io", "signers", "kubernetes.io/kube-apiserver-client-kubelet"),
    allow("sign", "certificates.k8s.io", "signers", signers),
    allow("create", "authorization.k8s.io", "subjectaccessreviews"),
    allowEvents,
  ],
  podcertificaterequestcleaner: [allow("delete get list watch", "certificates.k8s.io", "podcertificaterequests")],
  "podgroup-protection-controller": [
    allow("get list update watch", "scheduling.k8s.io", "podgroups"),
    allow(read, "core", "pods"),
  ],
  "pvc-protection-controller": [
    allow("get list update watch", "core", "persistentvolumeclaims"),
    allow("update", "core", "persistentvolumeclaims/status"),
    allow(read, "core", "pods"),
    allowEvents,
  ],
  "pv-protection-controller": [allow("get list update watch", "core", "persistentvolumes"), allowEvents],
  "volumeattributesclass-protection-controller": [
    allow(read, "core", "persistentvolumeclaims"),
    allow(read, "core", "persistentvolumes"),
    allow("get list update watch", "storage.k8s.io", "volumeattributesclasses"),
    allowEvents,
  ],
  "ttl-after-finished-controller": [allow("delete get list watch", "batch", "jobs"), allowEvents],
  "root-ca-cert-publisher": [allow("create update", "core", "configmaps"), allowEvents],
  "kube-apiserver-serving-clustertrustbundle-publisher": [
    allow("attest", "certificates.k8s.io", "signers", "kubernetes.io/kube-apiserver-serving"),
    allow("create delete list update watch", "certificates.k8s.io", "clustertrustbundles"),
    allowEvents,
  ],
  "validatingadmissionpolicy-status-controller": [
    allow(read, "admissionregistration.k8s.io", "validatingadmissionpolicies"),
    allow("get patch update", "admissionregistration.k8s.io", "validatingadmissionpolicies/status"),
    allowEvents,
  ],
  "storage-version-garbage-collector": [
    allow(read, "coordination.k8s.io", "leases"),
    allow("delete get list patch update watch", "internal.apiserver.k8s.io", "storageversions"),
    allow("get patch update", "internal.apiserver.k8s.io", "storageversions/status"),
  ],
  "legacy-service-account-token-cleaner": [
    allow("get", "core", "configmaps", "kube-apiserver-legacy-service-account-token-tracking"),
    allow("delete patch", "core", "secrets"),
  ],
  "storage-version-migrator-controller": [
    allow("list patch", "*", "*"),
    allow("get", "apiextensions.k8s.io", "customresourcedefinitions"),
    allow("patch", "apiextensions.k8s.io", "customresourcedefinitions/status"),
    allow("update", "storagemigration.k8s.io", "storageversionmigrations/status"),
  ],
  "selinux-warning-controller": [
    allowEvents,
    allow(read, "core", "persistentvolumes"),
    allow(read, "core", "persistentvolumeclaims"),
    allow(read, "core", "pods"),
    allow(read, "storage.k8s.io", "csidrivers"),
  ],
};

/** Controllers that exist only with a feature. */
const gates: Readonly<Record<string, string>> = {
  "device-taint-eviction-controller": "DRADeviceTaints",
  "kube-apiserver-serving-clustertrustbundle-publisher": "ClusterTrustBundle",
  podcertificaterequestcleaner: "PodCertificateRequest",
  "podgroup-protection-controller": "GenericWorkload",
  "selinux-warning-controller": "SELinuxChangePolicy",
  "storage-version-garbage-collector": "StorageVersionAPI",
  "storage-version-migrator-controller": "StorageVersionMigrator",
};

const rolePrefix = "system:controller:";

export const controllerRoles: readonly DefaultRole[] = Object.entries(controllers).map(([name, rules]) => {
  const gate = gates[name];
  return { name: rolePrefix + name, rules, ...(gate === undefined ? {} : { gate }) };
});

/** Returns the service account to which a controller's role is bound. */
export function controllerAccount(role: DefaultRole): string {
  return role.name.slice(rolePrefix.length);
}
