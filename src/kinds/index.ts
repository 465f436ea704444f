import { type GroupResource, groupResourceText } from "../api/gvk.ts";
import type { GeneratedResource } from "../api/scheme/generated/resources.ts";
import type { BuiltInKind, Kind } from "../registry/kind.ts";
import { mutatingAdmissionPolicy } from "./admissionregistration/mutating-admission-policy.ts";
import { mutatingAdmissionPolicyBinding } from "./admissionregistration/mutating-admission-policy-binding.ts";
import { mutatingWebhookConfiguration } from "./admissionregistration/mutating-webhook-configuration.ts";
import { validatingAdmissionPolicy } from "./admissionregistration/validating-admission-policy.ts";
import { validatingAdmissionPolicyBinding } from "./admissionregistration/validating-admission-policy-binding.ts";
import { validatingWebhookConfiguration } from "./admissionregistration/validating-webhook-configuration.ts";
import { customResourceDefinition } from "./apiextensions/custom-resource-definition.ts";
import { apiService } from "./apiregistration/api-service.ts";
import { storageVersion } from "./apiserverinternal/storage-version.ts";
import { controllerRevision } from "./apps/controller-revision.ts";
import { daemonSet } from "./apps/daemon-set.ts";
import { deployment } from "./apps/deployment.ts";
import { replicaSet } from "./apps/replica-set.ts";
import { statefulSet } from "./apps/stateful-set.ts";
import { selfSubjectReview } from "./authentication/self-subject-review.ts";
import { tokenReview } from "./authentication/token-review.ts";
import { localSubjectAccessReview } from "./authorization/local-subject-access-review.ts";
import { selfSubjectAccessReview } from "./authorization/self-subject-access-review.ts";
import { selfSubjectRulesReview } from "./authorization/self-subject-rules-review.ts";
import { subjectAccessReview } from "./authorization/subject-access-review.ts";
import { horizontalPodAutoscaler } from "./autoscaling/horizontal-pod-autoscaler.ts";
import { cronJob } from "./batch/cron-job.ts";
import { job } from "./batch/job.ts";
import { certificateSigningRequest } from "./certificates/certificate-signing-request.ts";
import { clusterTrustBundle } from "./certificates/cluster-trust-bundle.ts";
import { podCertificateRequest } from "./certificates/pod-certificate-request.ts";
import { lease } from "./coordination/lease.ts";
import { leaseCandidate } from "./coordination/lease-candidate.ts";
import { binding } from "./core/binding.ts";
import { componentStatus } from "./core/component-status.ts";
import { configMap } from "./core/config-map.ts";
import { endpoints } from "./core/endpoints.ts";
import { event } from "./core/event.ts";
import { limitRange } from "./core/limit-range.ts";
import { namespace } from "./core/namespace.ts";
import { node } from "./core/node.ts";
import { persistentVolume } from "./core/persistent-volume.ts";
import { persistentVolumeClaim } from "./core/persistent-volume-claim.ts";
import { pod } from "./core/pod.ts";
import { podTemplate } from "./core/pod-template.ts";
import { replicationController } from "./core/replication-controller.ts";
import { resourceQuota } from "./core/resource-quota.ts";
import { secret } from "./core/secret.ts";
import { service } from "./core/service.ts";
import { serviceAccount } from "./core/service-account.ts";
import { endpointSlice } from "./discovery/endpoint-slice.ts";
import { event as reportedEvent } from "./events/event.ts";
import { flowSchema } from "./flowcontrol/flow-schema.ts";
import { priorityLevelConfiguration } from "./flowcontrol/priority-level-configuration.ts";
import { ingress } from "./networking/ingress.ts";
import { ingressClass } from "./networking/ingress-class.ts";
import { ipAddress } from "./networking/ip-address.ts";
import { networkPolicy } from "./networking/network-policy.ts";
import { serviceCidr } from "./networking/service-cidr.ts";
import { runtimeClass } from "./node/runtime-class.ts";
import { podDisruptionBudget } from "./policy/pod-disruption-budget.ts";
import { clusterRole } from "./rbac/cluster-role.ts";
import { clusterRoleBinding } from "./rbac/cluster-role-binding.ts";
import { role } from "./rbac/role.ts";
import { roleBinding } from "./rbac/role-binding.ts";
import { deviceClass } from "./resource/device-class.ts";
import { deviceTaintRule } from "./resource/device-taint-rule.ts";
import { resourceClaim } from "./resource/resource-claim.ts";
import { resourceClaimTemplate } from "./resource/resource-claim-template.ts";
import { resourcePoolStatusRequest } from "./resource/resource-pool-status-request.ts";
import { resourceSlice } from "./resource/resource-slice.ts";
import { podGroup } from "./scheduling/pod-group.ts";
import { priorityClass } from "./scheduling/priority-class.ts";
import { workload } from "./scheduling/workload.ts";
import { csiDriver } from "./storage/csi-driver.ts";
import { csiNode } from "./storage/csi-node.ts";
import { csiStorageCapacity } from "./storage/csi-storage-capacity.ts";
import { storageClass } from "./storage/storage-class.ts";
import { volumeAttachment } from "./storage/volume-attachment.ts";
import { volumeAttributesClass } from "./storage/volume-attributes-class.ts";
import { storageVersionMigration } from "./storagemigration/storage-version-migration.ts";

/** Every kind of the built-in API. The type check fails if one is missing or has the wrong name. */
export const builtInKinds = {
  "mutatingadmissionpolicies.admissionregistration.k8s.io": mutatingAdmissionPolicy,
  "mutatingadmissionpolicybindings.admissionregistration.k8s.io": mutatingAdmissionPolicyBinding,
  "mutatingwebhookconfigurations.admissionregistration.k8s.io": mutatingWebhookConfiguration,
  "validatingadmissionpolicies.admissionregistration.k8s.io": validatingAdmissionPolicy,
  "validatingadmissionpolicybindings.admissionregistration.k8s.io": validatingAdmissionPolicyBinding,
  "validatingwebhookconfigurations.admissionregistration.k8s.io": validatingWebhookConfiguration,
  "customresourcedefinitions.apiextensions.k8s.io": customResourceDefinition,
  "apiservices.apiregistration.k8s.io": apiService,
  "storageversions.internal.apiserver.k8s.io": storageVersion,
  "controllerrevisions.apps": controllerRevision,
  "daemonsets.apps": daemonSet,
  "deployments.apps": deployment,
  "replicasets.apps": replicaSet,
  "statefulsets.apps": statefulSet,
  "selfsubjectreviews.authentication.k8s.io": selfSubjectReview,
  "tokenreviews.authentication.k8s.io": tokenReview,
  "localsubjectaccessreviews.authorization.k8s.io": localSubjectAccessReview,
  "selfsubjectaccessreviews.authorization.k8s.io": selfSubjectAccessReview,
  "selfsubjectrulesreviews.authorization.k8s.io": selfSubjectRulesReview,
  "subjectaccessreviews.authorization.k8s.io": subjectAccessReview,
  "horizontalpodautoscalers.autoscaling": horizontalPodAutoscaler,
  "cronjobs.batch": cronJob,
  "jobs.batch": job,
  "certificatesigningrequests.certificates.k8s.io": certificateSigningRequest,
  "clustertrustbundles.certificates.k8s.io": clusterTrustBundle,
  "podcertificaterequests.certificates.k8s.io": podCertificateRequest,
  "leases.coordination.k8s.io": lease,
  "leasecandidates.coordination.k8s.io": leaseCandidate,
  bindings: binding,
  componentstatuses: componentStatus,
  configmaps: configMap,
  endpoints,
  events: event,
  limitranges: limitRange,
  namespaces: namespace,
  nodes: node,
  persistentvolumes: persistentVolume,
  persistentvolumeclaims: persistentVolumeClaim,
  pods: pod,
  podtemplates: podTemplate,
  replicationcontrollers: replicationController,
  resourcequotas: resourceQuota,
  secrets: secret,
  services: service,
  serviceaccounts: serviceAccount,
  "endpointslices.discovery.k8s.io": endpointSlice,
  "events.events.k8s.io": reportedEvent,
  "flowschemas.flowcontrol.apiserver.k8s.io": flowSchema,
  "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io": priorityLevelConfiguration,
  "ingresses.networking.k8s.io": ingress,
  "ingressclasses.networking.k8s.io": ingressClass,
  "ipaddresses.networking.k8s.io": ipAddress,
  "networkpolicies.networking.k8s.io": networkPolicy,
  "servicecidrs.networking.k8s.io": serviceCidr,
  "runtimeclasses.node.k8s.io": runtimeClass,
  "poddisruptionbudgets.policy": podDisruptionBudget,
  "clusterroles.rbac.authorization.k8s.io": clusterRole,
  "clusterrolebindings.rbac.authorization.k8s.io": clusterRoleBinding,
  "roles.rbac.authorization.k8s.io": role,
  "rolebindings.rbac.authorization.k8s.io": roleBinding,
  "deviceclasses.resource.k8s.io": deviceClass,
  "devicetaintrules.resource.k8s.io": deviceTaintRule,
  "resourceclaims.resource.k8s.io": resourceClaim,
  "resourceclaimtemplates.resource.k8s.io": resourceClaimTemplate,
  "resourcepoolstatusrequests.resource.k8s.io": resourcePoolStatusRequest,
  "resourceslices.resource.k8s.io": resourceSlice,
  "priorityclasses.scheduling.k8s.io": priorityClass,
  "podgroups.scheduling.k8s.io": podGroup,
  "workloads.scheduling.k8s.io": workload,
  "csidrivers.storage.k8s.io": csiDriver,
  "csinodes.storage.k8s.io": csiNode,
  "csistoragecapacities.storage.k8s.io": csiStorageCapacity,
  "storageclasses.storage.k8s.io": storageClass,
  "volumeattachments.storage.k8s.io": volumeAttachment,
  "volumeattributesclasses.storage.k8s.io": volumeAttributesClass,
  "storageversionmigrations.storagemigration.k8s.io": storageVersionMigration,
} satisfies { readonly [R in GeneratedResource]: BuiltInKind<R> };

const byName: ReadonlyMap<string, Kind> = new Map<string, Kind>(Object.entries(builtInKinds));

/**
 * The kind of a resource of the built-in API.
 * @throws Error for any other resource
 */
export function builtInKindOf(resource: GroupResource): Kind {
  const name = groupResourceText(resource);
  const kind = byName.get(name);
  if (kind === undefined) throw new Error(`${name} is not built in`);
  return kind;
}
