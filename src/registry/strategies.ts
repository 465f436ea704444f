import type { GroupResource } from "../api/gvk.ts";
import { defaultStrategy, statusStrategy } from "./default-strategy.ts";
import {
  mutatingBindingStrategy,
  mutatingPolicyStrategy,
  validatingBindingStrategy,
  validatingPolicyStatusStrategy,
  validatingPolicyStrategy,
} from "./resources/admissionregistration/admission-policy.ts";
import { webhookConfigurationStrategy } from "./resources/admissionregistration/webhook-configuration.ts";
import {
  customResourceDefinitionStatusStrategy,
  customResourceDefinitionStrategy,
} from "./resources/apiextensions/custom-resource-definition.ts";
import { apiServiceStatusStrategy, apiServiceStrategy } from "./resources/apiregistration/api-service.ts";
import { storageVersionStatusStrategy, storageVersionStrategy } from "./resources/apiserverinternal/storage-version.ts";
import {
  certificateApprovalStrategy,
  certificateStatusStrategy,
} from "./resources/certificates/certificate-signing-request-status.ts";
import { certificateSigningRequestStrategy } from "./resources/certificates/certificate-signing-request.ts";
import { clusterTrustBundleStrategy } from "./resources/certificates/cluster-trust-bundle.ts";
import {
  podCertificateRequestStatusStrategy,
  podCertificateRequestStrategy,
} from "./resources/certificates/pod-certificate-request.ts";
import { controllerRevisionStrategy } from "./resources/apps/controller-revision.ts";
import { daemonSetStatusStrategy, daemonSetStrategy } from "./resources/apps/daemon-set.ts";
import { deploymentStatusStrategy, deploymentStrategy } from "./resources/apps/deployment.ts";
import { replicaSetStatusStrategy, replicaSetStrategy } from "./resources/apps/replica-set.ts";
import { statefulSetStatusStrategy, statefulSetStrategy } from "./resources/apps/stateful-set.ts";
import {
  horizontalPodAutoscalerStatusStrategy,
  horizontalPodAutoscalerStrategy,
} from "./resources/autoscaling/horizontal-pod-autoscaler.ts";
import { cronJobStrategy } from "./resources/batch/cron-job.ts";
import { jobStatusStrategy, jobStrategy } from "./resources/batch/job.ts";
import { leaseCandidateStrategy } from "./resources/coordination/lease-candidate.ts";
import { limitRangeStrategy } from "./resources/core/limit-range.ts";
import { podTemplateStrategy } from "./resources/core/pod-template.ts";
import {
  replicationControllerStatusStrategy,
  replicationControllerStrategy,
} from "./resources/core/replication-controller.ts";
import { resourceQuotaStatusStrategy, resourceQuotaStrategy } from "./resources/core/resource-quota.ts";
import { runtimeClassStrategy } from "./resources/node/runtime-class.ts";
import {
  podDisruptionBudgetStatusStrategy,
  podDisruptionBudgetStrategy,
} from "./resources/policy/pod-disruption-budget.ts";
import { priorityClassStrategy } from "./resources/scheduling/priority-class.ts";
import { leaseStrategy } from "./resources/coordination/lease.ts";
import { configMapStrategy } from "./resources/core/config-map.ts";
import { endpointsStrategy } from "./resources/core/endpoints.ts";
import { eventStrategy } from "./resources/core/event.ts";
import { namespaceFinalizeStrategy, namespaceStatusStrategy, namespaceStrategy } from "./resources/core/namespace.ts";
import { nodeStatusStrategy, nodeStrategy } from "./resources/core/node.ts";
import {
  persistentVolumeClaimStatusStrategy,
  persistentVolumeClaimStrategy,
} from "./resources/core/persistent-volume-claim.ts";
import { persistentVolumeStrategy } from "./resources/core/persistent-volume.ts";
import {
  podEphemeralContainersStrategy,
  podResizeStrategy,
  podStatusStrategy,
  podStrategy,
} from "./resources/core/pod.ts";
import { secretStrategy } from "./resources/core/secret.ts";
import { serviceAccountStrategy } from "./resources/core/service-account.ts";
import { serviceStatusStrategy, serviceStrategy } from "./resources/core/service.ts";
import { endpointSliceStrategy } from "./resources/discovery/endpoint-slice.ts";
import { flowSchemaStatusStrategy, flowSchemaStrategy } from "./resources/flowcontrol/flow-schema.ts";
import {
  priorityLevelStatusStrategy,
  priorityLevelStrategy,
} from "./resources/flowcontrol/priority-level-configuration.ts";
import { ingressClassStrategy } from "./resources/networking/ingress-class.ts";
import { ingressStatusStrategy, ingressStrategy } from "./resources/networking/ingress.ts";
import { ipAddressStrategy } from "./resources/networking/ip-address.ts";
import { networkPolicyStrategy } from "./resources/networking/network-policy.ts";
import { serviceCidrStrategy } from "./resources/networking/service-cidr.ts";
import { clusterRoleBindingStrategy, roleBindingStrategy } from "./resources/rbac/role-binding.ts";
import { clusterRoleStrategy, roleStrategy } from "./resources/rbac/role.ts";
import { deviceClassStrategy } from "./resources/resource/device-class.ts";
import { deviceTaintRuleStatusStrategy, deviceTaintRuleStrategy } from "./resources/resource/device-taint-rule.ts";
import {
  resourceClaimStatusStrategy,
  resourceClaimStrategy,
  resourceClaimTemplateStrategy,
} from "./resources/resource/resource-claim.ts";
import {
  resourcePoolStatusRequestStatusStrategy,
  resourcePoolStatusRequestStrategy,
} from "./resources/resource/resource-pool-status-request.ts";
import { resourceSliceStrategy } from "./resources/resource/resource-slice.ts";
import { csiDriverStrategy } from "./resources/storage/csi-driver.ts";
import { csiNodeStrategy } from "./resources/storage/csi-node.ts";
import { csiStorageCapacityStrategy } from "./resources/storage/csi-storage-capacity.ts";
import { storageClassStrategy, volumeAttributesClassStrategy } from "./resources/storage/storage-class.ts";
import { volumeAttachmentStatusStrategy, volumeAttachmentStrategy } from "./resources/storage/volume-attachment.ts";
import {
  storageVersionMigrationStatusStrategy,
  storageVersionMigrationStrategy,
} from "./resources/storagemigration/storage-version-migration.ts";
import type { Strategy } from "./strategy.ts";

/** Resources with rules of their own, and their subresources that write the object. All others follow the default. */
const strategies: Readonly<Record<string, Strategy>> = {
  "/configmaps": configMapStrategy,
  "/endpoints": endpointsStrategy,
  "/events": eventStrategy,
  "/limitranges": limitRangeStrategy,
  "/namespaces": namespaceStrategy,
  "/namespaces/finalize": namespaceFinalizeStrategy,
  "/namespaces/status": namespaceStatusStrategy,
  "/nodes": nodeStrategy,
  "/nodes/status": nodeStatusStrategy,
  "/persistentvolumeclaims": persistentVolumeClaimStrategy,
  "/persistentvolumeclaims/status": persistentVolumeClaimStatusStrategy,
  "/persistentvolumes": persistentVolumeStrategy,
  "/pods": podStrategy,
  "/pods/ephemeralcontainers": podEphemeralContainersStrategy,
  "/pods/resize": podResizeStrategy,
  "/pods/status": podStatusStrategy,
  "/podtemplates": podTemplateStrategy,
  "/replicationcontrollers": replicationControllerStrategy,
  "/replicationcontrollers/status": replicationControllerStatusStrategy,
  "/resourcequotas": resourceQuotaStrategy,
  "/resourcequotas/status": resourceQuotaStatusStrategy,
  "/secrets": secretStrategy,
  "/serviceaccounts": serviceAccountStrategy,
  "/services": serviceStrategy,
  "/services/status": serviceStatusStrategy,
  "admissionregistration.k8s.io/mutatingadmissionpolicies": mutatingPolicyStrategy,
  "admissionregistration.k8s.io/mutatingadmissionpolicybindings": mutatingBindingStrategy,
  "admissionregistration.k8s.io/mutatingwebhookconfigurations": webhookConfigurationStrategy,
  "admissionregistration.k8s.io/validatingadmissionpolicies": validatingPolicyStrategy,
  "admissionregistration.k8s.io/validatingadmissionpolicies/status": validatingPolicyStatusStrategy,
  "admissionregistration.k8s.io/validatingadmissionpolicybindings": validatingBindingStrategy,
  "admissionregistration.k8s.io/validatingwebhookconfigurations": webhookConfigurationStrategy,
  "apiextensions.k8s.io/customresourcedefinitions": customResourceDefinitionStrategy,
  "apiextensions.k8s.io/customresourcedefinitions/status": customResourceDefinitionStatusStrategy,
  "apiregistration.k8s.io/apiservices": apiServiceStrategy,
  "apiregistration.k8s.io/apiservices/status": apiServiceStatusStrategy,
  "apps/controllerrevisions": controllerRevisionStrategy,
  "apps/daemonsets": daemonSetStrategy,
  "apps/daemonsets/status": daemonSetStatusStrategy,
  "apps/deployments": deploymentStrategy,
  "apps/deployments/status": deploymentStatusStrategy,
  "apps/replicasets": replicaSetStrategy,
  "apps/replicasets/status": replicaSetStatusStrategy,
  "apps/statefulsets": statefulSetStrategy,
  "apps/statefulsets/status": statefulSetStatusStrategy,
  "autoscaling/horizontalpodautoscalers": horizontalPodAutoscalerStrategy,
  "autoscaling/horizontalpodautoscalers/status": horizontalPodAutoscalerStatusStrategy,
  "batch/cronjobs": cronJobStrategy,
  "batch/jobs": jobStrategy,
  "batch/jobs/status": jobStatusStrategy,
  "certificates.k8s.io/certificatesigningrequests": certificateSigningRequestStrategy,
  "certificates.k8s.io/certificatesigningrequests/approval": certificateApprovalStrategy,
  "certificates.k8s.io/certificatesigningrequests/status": certificateStatusStrategy,
  "certificates.k8s.io/clustertrustbundles": clusterTrustBundleStrategy,
  "certificates.k8s.io/podcertificaterequests": podCertificateRequestStrategy,
  "certificates.k8s.io/podcertificaterequests/status": podCertificateRequestStatusStrategy,
  "coordination.k8s.io/leasecandidates": leaseCandidateStrategy,
  "coordination.k8s.io/leases": leaseStrategy,
  "discovery.k8s.io/endpointslices": endpointSliceStrategy,
  "flowcontrol.apiserver.k8s.io/flowschemas": flowSchemaStrategy,
  "flowcontrol.apiserver.k8s.io/flowschemas/status": flowSchemaStatusStrategy,
  "flowcontrol.apiserver.k8s.io/prioritylevelconfigurations": priorityLevelStrategy,
  "flowcontrol.apiserver.k8s.io/prioritylevelconfigurations/status": priorityLevelStatusStrategy,
  "internal.apiserver.k8s.io/storageversions": storageVersionStrategy,
  "internal.apiserver.k8s.io/storageversions/status": storageVersionStatusStrategy,
  "networking.k8s.io/ingressclasses": ingressClassStrategy,
  "networking.k8s.io/ingresses": ingressStrategy,
  "networking.k8s.io/ingresses/status": ingressStatusStrategy,
  "networking.k8s.io/ipaddresses": ipAddressStrategy,
  "networking.k8s.io/networkpolicies": networkPolicyStrategy,
  "networking.k8s.io/servicecidrs": serviceCidrStrategy,
  "node.k8s.io/runtimeclasses": runtimeClassStrategy,
  "policy/poddisruptionbudgets": podDisruptionBudgetStrategy,
  "policy/poddisruptionbudgets/status": podDisruptionBudgetStatusStrategy,
  "rbac.authorization.k8s.io/clusterrolebindings": clusterRoleBindingStrategy,
  "rbac.authorization.k8s.io/clusterroles": clusterRoleStrategy,
  "rbac.authorization.k8s.io/rolebindings": roleBindingStrategy,
  "rbac.authorization.k8s.io/roles": roleStrategy,
  "resource.k8s.io/deviceclasses": deviceClassStrategy,
  "resource.k8s.io/devicetaintrules": deviceTaintRuleStrategy,
  "resource.k8s.io/devicetaintrules/status": deviceTaintRuleStatusStrategy,
  "resource.k8s.io/resourceclaims": resourceClaimStrategy,
  "resource.k8s.io/resourceclaims/status": resourceClaimStatusStrategy,
  "resource.k8s.io/resourceclaimtemplates": resourceClaimTemplateStrategy,
  "resource.k8s.io/resourcepoolstatusrequests": resourcePoolStatusRequestStrategy,
  "resource.k8s.io/resourcepoolstatusrequests/status": resourcePoolStatusRequestStatusStrategy,
  "resource.k8s.io/resourceslices": resourceSliceStrategy,
  "scheduling.k8s.io/priorityclasses": priorityClassStrategy,
  "storage.k8s.io/csidrivers": csiDriverStrategy,
  "storage.k8s.io/csinodes": csiNodeStrategy,
  "storage.k8s.io/csistoragecapacities": csiStorageCapacityStrategy,
  "storage.k8s.io/storageclasses": storageClassStrategy,
  "storage.k8s.io/volumeattachments": volumeAttachmentStrategy,
  "storage.k8s.io/volumeattachments/status": volumeAttachmentStatusStrategy,
  "storage.k8s.io/volumeattributesclasses": volumeAttributesClassStrategy,
  "storagemigration.k8s.io/storageversionmigrations": storageVersionMigrationStrategy,
  "storagemigration.k8s.io/storageversionmigrations/status": storageVersionMigrationStatusStrategy,
};

export function strategyOf({ group, resource }: GroupResource): Strategy {
  return strategies[`${group}/${resource}`] ?? defaultStrategy;
}

/** Rules of a write through a subresource; undefined when it is not served. */
export function subresourceStrategyOf(resource: GroupResource, subresource: string): Strategy | undefined {
  const own = strategies[`${resource.group}/${resource.resource}/${subresource}`];
  if (own !== undefined) return own;
  return subresource === "status" ? statusStrategy(strategyOf(resource)) : undefined;
}
