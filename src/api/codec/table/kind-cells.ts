import type { Cells } from "./cells.ts";
import type { JsonObject } from "../../json.ts";
import type { KubeObject } from "../../object-meta.ts";
import type { ResourceInfo } from "../../scheme/resource.ts";
import { ageOf } from "./human-duration.ts";
import {
  admissionPolicyBindingCells,
  admissionPolicyCells,
  webhookConfigurationCells,
} from "./admission-registration-cells.ts";
import {
  certificateSigningRequestCells,
  clusterTrustBundleCells,
  podCertificateRequestCells,
} from "./certificate-cells.ts";
import {
  apiServiceCells,
  componentStatusCells,
  leaseCandidateCells,
  priorityClassCells,
  runtimeClassCells,
  storageVersionCells,
  storageVersionMigrationCells,
} from "./cluster-cells.ts";
import { configMapCells } from "./config-map-cells.ts";
import { eventCells } from "./event-cells.ts";
import { flowSchemaCells, priorityLevelConfigurationCells } from "./flow-control-cells.ts";
import { horizontalPodAutoscalerCells } from "./horizontal-pod-autoscaler-cells.ts";
import { cronJobCells, jobCells } from "./job-cells.ts";
import { leaseCells } from "./lease-cells.ts";
import { namespaceCells } from "./namespace-cells.ts";
import {
  ingressCells,
  ingressClassCells,
  ipAddressCells,
  networkPolicyCells,
  serviceCidrCells,
} from "./networking-cells.ts";
import { nodeCells } from "./node-cells.ts";
import { podCells, podRowConditions } from "./pod-cells.ts";
import { podDisruptionBudgetCells, resourceQuotaCells } from "./policy-cells.ts";
import { roleBindingCells } from "./rbac-cells.ts";
import {
  deviceTaintRuleCells,
  resourceClaimCells,
  resourcePoolStatusRequestCells,
  resourceSliceCells,
} from "./resource-allocation-cells.ts";
import { scaleCells } from "./scale-cells.ts";
import { secretCells } from "./secret-cells.ts";
import { endpointsCells, endpointSliceCells, serviceCells } from "./service-cells.ts";
import {
  csiDriverCells,
  csiNodeCells,
  csiStorageCapacityCells,
  persistentVolumeCells,
  persistentVolumeClaimCells,
  storageClassCells,
  volumeAttachmentCells,
  volumeAttributesClassCells,
} from "./storage-cells.ts";
import {
  controllerRevisionCells,
  daemonSetCells,
  deploymentCells,
  podTemplateCells,
  replicaSetCells,
  replicationControllerCells,
  statefulSetCells,
} from "./workload-cells.ts";

type CellRules = (object: JsonObject, nowMs: number) => Cells;

/** By group and kind of the stored form. A kind without a line has no columns of its own. */
const rules: ReadonlyMap<string, CellRules> = new Map<string, CellRules>([
  ["/ComponentStatus", componentStatusCells],
  ["/ConfigMap", configMapCells],
  ["/Endpoints", endpointsCells],
  ["/Event", eventCells],
  ["/Namespace", namespaceCells],
  ["/Node", nodeCells],
  ["/PersistentVolume", persistentVolumeCells],
  ["/PersistentVolumeClaim", persistentVolumeClaimCells],
  ["/Pod", podCells],
  ["/PodTemplate", podTemplateCells],
  ["/ReplicationController", replicationControllerCells],
  ["/ResourceQuota", resourceQuotaCells],
  ["/Secret", secretCells],
  ["/Service", serviceCells],
  ["admissionregistration.k8s.io/MutatingAdmissionPolicy", admissionPolicyCells],
  ["admissionregistration.k8s.io/MutatingAdmissionPolicyBinding", admissionPolicyBindingCells],
  ["admissionregistration.k8s.io/MutatingWebhookConfiguration", webhookConfigurationCells],
  ["admissionregistration.k8s.io/ValidatingAdmissionPolicy", admissionPolicyCells],
  ["admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding", admissionPolicyBindingCells],
  ["admissionregistration.k8s.io/ValidatingWebhookConfiguration", webhookConfigurationCells],
  ["apiregistration.k8s.io/APIService", apiServiceCells],
  ["apps/ControllerRevision", controllerRevisionCells],
  ["apps/DaemonSet", daemonSetCells],
  ["apps/Deployment", deploymentCells],
  ["apps/ReplicaSet", replicaSetCells],
  ["apps/StatefulSet", statefulSetCells],
  ["autoscaling/HorizontalPodAutoscaler", horizontalPodAutoscalerCells],
  ["autoscaling/Scale", scaleCells],
  ["batch/CronJob", cronJobCells],
  ["batch/Job", jobCells],
  ["certificates.k8s.io/CertificateSigningRequest", certificateSigningRequestCells],
  ["certificates.k8s.io/ClusterTrustBundle", clusterTrustBundleCells],
  ["certificates.k8s.io/PodCertificateRequest", podCertificateRequestCells],
  ["coordination.k8s.io/Lease", leaseCells],
  ["coordination.k8s.io/LeaseCandidate", leaseCandidateCells],
  ["discovery.k8s.io/EndpointSlice", endpointSliceCells],
  ["events.k8s.io/Event", eventCells],
  ["flowcontrol.apiserver.k8s.io/FlowSchema", flowSchemaCells],
  ["flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration", priorityLevelConfigurationCells],
  ["internal.apiserver.k8s.io/StorageVersion", storageVersionCells],
  ["networking.k8s.io/IPAddress", ipAddressCells],
  ["networking.k8s.io/Ingress", ingressCells],
  ["networking.k8s.io/IngressClass", ingressClassCells],
  ["networking.k8s.io/NetworkPolicy", networkPolicyCells],
  ["networking.k8s.io/ServiceCIDR", serviceCidrCells],
  ["node.k8s.io/RuntimeClass", runtimeClassCells],
  ["policy/PodDisruptionBudget", podDisruptionBudgetCells],
  ["rbac.authorization.k8s.io/ClusterRoleBinding", roleBindingCells],
  ["rbac.authorization.k8s.io/RoleBinding", roleBindingCells],
  ["resource.k8s.io/DeviceTaintRule", deviceTaintRuleCells],
  ["resource.k8s.io/ResourceClaim", resourceClaimCells],
  ["resource.k8s.io/ResourcePoolStatusRequest", resourcePoolStatusRequestCells],
  ["resource.k8s.io/ResourceSlice", resourceSliceCells],
  ["scheduling.k8s.io/PriorityClass", priorityClassCells],
  ["storage.k8s.io/CSIDriver", csiDriverCells],
  ["storage.k8s.io/CSINode", csiNodeCells],
  ["storage.k8s.io/CSIStorageCapacity", csiStorageCapacityCells],
  ["storage.k8s.io/StorageClass", storageClassCells],
  ["storage.k8s.io/VolumeAttachment", volumeAttachmentCells],
  ["storage.k8s.io/VolumeAttributesClass", volumeAttributesClassCells],
  ["storagemigration.k8s.io/StorageVersionMigration", storageVersionMigrationCells],
]);

/** The cells of an object. Name, Age and Created At mean the same everywhere; the others are the kind's own. */
export function cellsOf(object: KubeObject, info: ResourceInfo, nowMs: number): Cells {
  const { metadata } = object;
  const own = rules.get(`${info.group}/${info.kind}`);
  return {
    Name: metadata.name ?? "",
    Age: ageOf(metadata.creationTimestamp, nowMs),
    "Created At": metadata.creationTimestamp ?? "<unknown>",
    ...own?.(object as JsonObject, nowMs),
  };
}

/** Conditions of the row itself. */
export function rowConditionsOf(object: KubeObject, info: ResourceInfo): JsonObject[] {
  return info.group === "" && info.kind === "Pod" ? podRowConditions(object as JsonObject) : [];
}
