import type { Authorizer } from "../access/authorization/authorizer.ts";
import type { GroupResource } from "../api/gvk.ts";
import type { Clock } from "../process/clock.ts";
import type { AdmissionPlugin } from "../registry/admission.ts";
import type { Catalog } from "../registry/catalog.ts";
import type { ObjectLookup } from "../registry/object-lookup.ts";
import type { RandomInt } from "../registry/random-name.ts";
import type { Registry } from "../registry/registry.ts";
import { alwaysAdmit } from "./always-admit.ts";
import { alwaysDeny } from "./always-deny.ts";
import { alwaysPullImages } from "./always-pull-images.ts";
import type { Authorize } from "./authorization.ts";
import { certificateApproval } from "./certificate-approval.ts";
import { certificateSigning } from "./certificate-signing.ts";
import { certificateSubjectRestriction } from "./certificate-subject-restriction.ts";
import { clusterTrustBundleAttest } from "./cluster-trust-bundle-attest.ts";
import { defaultIngressClass } from "./default-ingress-class.ts";
import { defaultStorageClass } from "./default-storage-class.ts";
import { defaultTolerationSeconds } from "./default-toleration-seconds.ts";
import { denyServiceExternalIps } from "./deny-service-external-ips.ts";
import { extendedResourceToleration } from "./extended-resource-toleration.ts";
import { limitPodHardAntiAffinityTopology } from "./limit-pod-hard-anti-affinity-topology.ts";
import { limitRanger } from "./limit-ranger.ts";
import { namespaceExists } from "./namespace-exists.ts";
import { namespaceLifecycle } from "./namespace-lifecycle.ts";
import { nodeRestriction } from "./node-restriction.ts";
import {
  ownerReferencesPermissionEnforcement,
  type ResourceOfKind,
} from "./owner-references-permission-enforcement.ts";
import { persistentVolumeClaimResize } from "./persistent-volume-claim-resize.ts";
import type { PluginName } from "./plugin-names.ts";
import { podGroupProtection } from "./pod-group-protection.ts";
import { podGroupWorkloadExists } from "./pod-group-workload-exists.ts";
import { podSecurity } from "./pod-security/pod-security.ts";
import { podTopologyLabels } from "./pod-topology-labels.ts";
import { mutatingAdmissionPolicy } from "./policies/mutating-admission-policy.ts";
import type { PolicyObserver } from "./policies/policy-observer.ts";
import { validatingAdmissionPolicy } from "./policies/validating-admission-policy.ts";
import { priority } from "./priority.ts";
import type { QuotaAccountant } from "./resource-quota/accountant.ts";
import { resourceQuota } from "./resource-quota/resource-quota.ts";
import { runtimeClass } from "./runtime-class.ts";
import { serviceAccount } from "./service-account.ts";
import { storageObjectInUseProtection } from "./storage-object-in-use-protection.ts";
import { taintNodesByCondition } from "./taint-nodes-by-condition.ts";
import {
  mutatingAdmissionWebhook,
  validatingAdmissionWebhook,
  type WebhookPluginParts,
} from "./webhook/webhook-plugins.ts";

/** The parts of the server that plugins use. */
export interface PluginParts extends Pick<WebhookPluginParts, "webhooks"> {
  readonly lookup: ObjectLookup;
  readonly authorize: Authorize;
  readonly authorizer: Authorizer;
  readonly catalog: Catalog;
  /** The registry of a resource; undefined for one that is not served. */
  readonly registryOf: (resource: GroupResource) => Registry | undefined;
  readonly resourceOfKind: ResourceOfKind;
  readonly clock: Clock;
  readonly policyObserver?: PolicyObserver | undefined;
  readonly quotas: QuotaAccountant;
  readonly randomInt: RandomInt;
  readonly wait: (delayMs: number) => Promise<void>;
  readonly catchUp: () => Promise<void>;
}

const makers = {
  AlwaysAdmit: alwaysAdmit,
  NamespaceLifecycle: namespaceLifecycle,
  NamespaceExists: namespaceExists,
  LimitPodHardAntiAffinityTopology: limitPodHardAntiAffinityTopology,
  LimitRanger: limitRanger,
  ServiceAccount: serviceAccount,
  NodeRestriction: nodeRestriction,
  TaintNodesByCondition: taintNodesByCondition,
  AlwaysPullImages: alwaysPullImages,
  PodSecurity: podSecurity,
  Priority: priority,
  DefaultTolerationSeconds: defaultTolerationSeconds,
  ExtendedResourceToleration: extendedResourceToleration,
  DefaultStorageClass: defaultStorageClass,
  StorageObjectInUseProtection: storageObjectInUseProtection,
  PodGroupProtection: podGroupProtection,
  OwnerReferencesPermissionEnforcement: ownerReferencesPermissionEnforcement,
  PersistentVolumeClaimResize: persistentVolumeClaimResize,
  RuntimeClass: runtimeClass,
  CertificateApproval: certificateApproval,
  CertificateSigning: certificateSigning,
  ClusterTrustBundleAttest: clusterTrustBundleAttest,
  CertificateSubjectRestriction: certificateSubjectRestriction,
  DefaultIngressClass: defaultIngressClass,
  DenyServiceExternalIPs: denyServiceExternalIps,
  PodTopologyLabels: podTopologyLabels,
  PodGroupWorkloadExists: podGroupWorkloadExists,
  MutatingAdmissionPolicy: mutatingAdmissionPolicy,
  MutatingAdmissionWebhook: mutatingAdmissionWebhook,
  ValidatingAdmissionPolicy: validatingAdmissionPolicy,
  ValidatingAdmissionWebhook: validatingAdmissionWebhook,
  ResourceQuota: resourceQuota,
  AlwaysDeny: alwaysDeny,
} satisfies Record<PluginName, (parts: PluginParts) => AdmissionPlugin>;

/** Creates the plugins of these names, in the same order. */
export function makePlugins(names: readonly PluginName[], parts: PluginParts): readonly AdmissionPlugin[] {
  return names.map((name) => makers[name](parts));
}
