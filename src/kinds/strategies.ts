import type { GroupResource } from "../api/gvk.ts";
import { defaultStrategy, statusStrategy } from "../registry/default-strategy.ts";
import {
  mutatingBindingStrategy,
  mutatingPolicyStrategy,
  validatingBindingStrategy,
  validatingPolicyStatusStrategy,
  validatingPolicyStrategy,
} from "./admissionregistration/admission-policy.ts";
import { webhookConfigurationStrategy } from "./admissionregistration/webhook-configuration.ts";
import {
  customResourceDefinitionStatusStrategy,
  customResourceDefinitionStrategy,
} from "./apiextensions/custom-resource-definition.ts";
import { apiServiceStatusStrategy, apiServiceStrategy } from "./apiregistration/api-service.ts";
import { storageVersionStatusStrategy, storageVersionStrategy } from "./apiserverinternal/storage-version.ts";
import {
  certificateApprovalStrategy,
  certificateStatusStrategy,
} from "./certificates/certificate-signing-request-status.ts";
import { certificateSigningRequestStrategy } from "./certificates/certificate-signing-request.ts";
import { clusterTrustBundleStrategy } from "./certificates/cluster-trust-bundle.ts";
import {
  podCertificateRequestStatusStrategy,
  podCertificateRequestStrategy,
} from "./certificates/pod-certificate-request.ts";
import { controllerRevisionStrategy } from "./apps/controller-revision.ts";
import { daemonSetStatusStrategy, daemonSetStrategy } from "./apps/daemon-set.ts";
import { deploymentStatusStrategy, deploymentStrategy } from "./apps/deployment.ts";
import { replicaSetStatusStrategy, replicaSetStrategy } from "./apps/replica-set.ts";
import { statefulSetStatusStrategy, statefulSetStrategy } from "./apps/stateful-set.ts";
import {
  horizontalPodAutoscalerStatusStrategy,
  horizontalPodAutoscalerStrategy,
} from "./autoscaling/horizontal-pod-autoscaler.ts";
import { cronJobStrategy } from "./batch/cron-job.ts";
import { jobStatusStrategy, jobStrategy } from "./batch/job.ts";
import { leaseCandidateStrategy } from "./coordination/lease-candidate.ts";
import { limitRangeStrategy } from "./core/limit-range.ts";
import { podTemplateStrategy } from "./core/pod-template.ts";
import { replicationControllerStatusStrategy, replicationControllerStrategy } from "./core/replication-controller.ts";
import { resourceQuotaStatusStrategy, resourceQuotaStrategy } from "./core/resource-quota.ts";
import { runtimeClassStrategy } from "./node/runtime-class.ts";
import { podDisruptionBudgetStatusStrategy, podDisruptionBudgetStrategy } from "./policy/pod-disruption-budget.ts";
import { priorityClassStrategy } from "./scheduling/priority-class.ts";
import { leaseStrategy } from "./coordination/lease.ts";
import { configMapStrategy } from "./core/config-map.ts";
import { endpointsStrategy } from "./core/endpoints.ts";
import { eventStrategy } from "./core/event.ts";
import { namespaceFinalizeStrategy, namespaceStatusStrategy, namespaceStrategy } from "./core/namespace.ts";
import { nodeStatusStrategy, nodeStrategy } from "./core/node.ts";
import { persistentVolumeClaimStatusStrategy, persistentVolumeClaimStrategy } from "./core/persistent-volume-claim.ts";
import { persistentVolumeStrategy } from "./core/persistent-volume.ts";
import { podEphemeralContainersStrategy, podResizeStrategy, podStatusStrategy, podStrategy } from "./core/pod.ts";
import { secretStrategy } from "./core/secret.ts";
import { serviceAccountStrategy } from "./core/service-account.ts";
import { serviceStatusStrategy, serviceStrategy } from "./core/service.ts";
import { endpointSliceStrategy } from "./discovery/endpoint-slice.ts";
import { flowSchemaStatusStrategy, flowSchemaStrategy } from "./flowcontrol/flow-schema.ts";
import { priorityLevelStatusStrategy, priorityLevelStrategy } from "./flowcontrol/priority-level-configuration.ts";
import { ingressClassStrategy } from "./networking/ingress-class.ts";
import { ingressStatusStrategy, ingressStrategy } from "./networking/ingress.ts";
import { ipAddressStrategy } from "./networking/ip-address.ts";
import { networkPolicyStrategy } from "./networking/network-policy.ts";
import { serviceCidrStrategy } from "./networking/service-cidr.ts";
import { clusterRoleBindingStrategy, roleBindingStrategy } from "./rbac/role-binding.ts";
import { clusterRoleStrategy, roleStrategy } from "./rbac/role.ts";
import { deviceClassStrategy } from "./resource/device-class.ts";
import { deviceTaintRuleStatusStrategy, deviceTaintRuleStrategy } from "./resource/device-taint-rule.ts";
import {
  resourceClaimStatusStrategy,
  resourceClaimStrategy,
  resourceClaimTemplateStrategy,
} from "./resource/resource-claim.ts";
import {
  resourcePoolStatusRequestStatusStrategy,
  resourcePoolStatusRequestStrategy,
} from "./resource/resource-pool-status-request.ts";
import { resourceSliceStrategy } from "./resource/resource-slice.ts";
import { csiDriverStrategy } from "./storage/csi-driver.ts";
import { csiNodeStrategy } from "./storage/csi-node.ts";
import { csiStorageCapacityStrategy } from "./storage/csi-storage-capacity.ts";
import { storageClassStrategy, volumeAttributesClassStrategy } from "./storage/storage-class.ts";
import { volumeAttachmentStatusStrategy, volumeAttachmentStrategy } from "./storage/volume-attachment.ts";
import {
  storageVersionMigrationStatusStrategy,
  storageVersionMigrationStrategy,
} from "./storagemigration/storage-version-migration.ts";
import type { Strategy } from "../registry/strategy.ts";

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
