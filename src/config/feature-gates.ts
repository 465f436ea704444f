import { StartupError } from "./startup-error.ts";

export type FeatureStage = "ALPHA" | "BETA" | "GA" | "DEPRECATED";

export interface FeatureGate {
  readonly name: string;
  readonly default: boolean;
  readonly stage: FeatureStage;
  /** The default cannot be changed any more; naming it is allowed, contradicting it is not. */
  readonly locked: boolean;
}

/** Off until asked for; may change or vanish. */
const alpha = `
APIServingWithRoutine AllowUnsafeMalformedObjectDeletion AuthorizeWithSelectors CBORServingAndStorage
CPUManagerPolicyAlphaOptions CRDObservedGenerationTracking CSIVolumeHealth ClientsAllowCBOR ClientsPreferCBOR
CloudControllerManagerWatchBasedRoutesReconciliation CloudControllerManagerWebhook ComponentFlagz ComponentStatusz
CrossNamespaceVolumeDataSource CustomCPUCFSQuotaPeriod DRAListTypeAttributes DRANodeAllocatableResources
DRAResourcePoolStatus DRAWorkloadResourceClaims EventedPLEG GangScheduling GenericWorkload ImageVolumeWithDigest
InPlacePodVerticalScalingExclusiveCPUs ManifestBasedAdmissionControlConfig MemoryQoS MutablePVNodeAffinity
PodLogsQuerySplitStreams ShardedListAndWatch StorageCapacityScoring StorageVersionAPI
TaintTolerationComparisonOperators TopologyAwareWorkloadScheduling VolumeLimitScaling WorkloadAwarePreemption
WorkloadWithJob
`;

/** On unless switched off. */
const betaOn = `
APIResponseCompression APIServerIdentity AllowParsingUserUIDFromCertAuth AuthorizePodWebsocketUpgradeCreatePermission
CPUManagerPolicyBetaOptions CRDValidationRatcheting CSIServiceAccountTokenSecrets
ClearingNominatedNodeNameAfterBinding ConstrainedImpersonation ContainerCheckpoint ContainerRestartRules
ContainerStopSignals ContextualLogging DRAConsumableCapacity DRADeviceBindingConditions DRADeviceTaints
DRAExtendedResource DRAPartitionableDevices DRAResourceClaimDeviceStatus DRASchedulerFilterTimeout
DeclarativeValidation DeclarativeValidationBeta DeploymentReplicaSetTerminatingReplicas DetectCacheInconsistency
DisableCPUQuotaWithExclusiveCPUs EnvFiles ExternalServiceAccountTokenSigner GracefulNodeShutdown
GracefulNodeShutdownBasedOnPodPriority HPAConfigurableTolerance HostnameOverride
InPlacePodLevelResourcesVerticalScaling ListFromCacheSnapshot MatchLabelKeysInPodTopologySpread
MutableCSINodeAllocatableCount MutablePodResourcesForSuspendedJobs NodeDeclaredFeatures
NominatedNodeNameForExpectation OpenAPIEnums OpportunisticBatching PodCertificateRequest PodLevelResources
PodObservedGenerationTracking PodTopologyLabelsAdmission PreferSameTrafficDistribution
RelaxedEnvironmentVariableValidation RelaxedServiceNameValidation RemoteRequestHeaderUID ResourceHealthStatus ResourceHealthStatusMessage
SELinuxChangePolicy SELinuxMountReadWriteOncePod SchedulerAsyncPreemption SchedulerPopFromBackoffQ
SeparateTaintEvictionController SizeBasedListCostEstimate StorageVersionHash StrictIPCIDRValidation
StructuredAuthenticationConfigurationEgressSelector StructuredAuthenticationConfigurationJWKSMetrics
TokenRequestServiceAccountUIDValidation UnauthenticatedHTTP2DOSMitigation UnknownVersionInteroperabilityProxy
UserNamespacesSupport WatchCacheInitializationPostStartHook WatchList
`;

/** Beta, but off until asked for. */
const betaOff = `
ClusterTrustBundle ClusterTrustBundleProjection ConcurrentWatchObjectDecode CoordinatedLeaderElection
DRADeviceTaintRules DeclarativeValidationTakeover HPAScaleToZero ImageVolume MaxUnavailableStatefulSet
PodCertificateProjection SELinuxMount SchedulerAsyncAPICalls StorageVersionMigrator WindowsHostNetwork
`;

/** Finished and on, but can still be switched off. */
const gaOn = `
DRAPrioritizedList MutatingAdmissionPolicy RotateKubeletServerCertificate
`;

/** Part of the service; the gate only remains so that old command lines start. */
const gaLocked = `
APIListChunking APIPriorityAndFairness APIServerTracing AdmissionWebhookMatchConditions AggregatedDiscoveryEndpoint
AggregatedDiscoveryRemoveBetaType AnonymousAuthConfigurableEndpoints AnyVolumeDataSource AppArmor AppArmorFields
AuthorizeNodeWithSelectors BtreeWatchCache CPUManager CPUManagerPolicyOptions CSIMigrationPortworx CSIStorageCapacity
ComponentSLIs ConsistentListFromCache CronJobsScheduledAnnotation CustomResourceFieldSelectors DRAAdminAccess
DevicePluginCDIDevices DisableAllocatorDualWrite DisableCloudProviders DryRun DynamicResourceAllocation
ElasticIndexedJob HonorPVReclaimPolicy InPlacePodVerticalScaling JobBackoffLimitPerIndex JobManagedBy
JobPodFailurePolicy JobPodReplacementPolicy JobSuccessPolicy KMSv2 KubeProxyDrainingTerminatingNodes
LoadBalancerIPMode LogarithmicScaleDown MatchLabelKeysInPodAffinity MultiCIDRServiceAllocator NFTablesProxyMode
NodeInclusionPolicyInPodTopologySpread NodeSwap OrderedNamespaceDeletion PersistentVolumeLastPhaseTransitionTime
PodDisruptionConditions PodHostIPs PodIndexLabel PodLifecycleSleepAction PodLifecycleSleepActionAllowZero
PodReadyToStartContainersCondition PodSchedulingReadiness PortForwardWebsockets ProbeHostPodSecurityStandards
RecoverVolumeExpansionFailure RecursiveReadOnlyMounts RelaxedDNSSearchValidation RemainingItemCount
ResilientWatchCacheInitialization RetryGenerateName SchedulerQueueingHints ServerSideApply ServerSideFieldValidation
ServiceAccountNodeAudienceRestriction ServiceAccountTokenJTI ServiceAccountTokenNodeBinding
ServiceAccountTokenNodeBindingValidation ServiceAccountTokenPodNodeInfo ServiceTrafficDistribution SidecarContainers
StableLoadBalancerNodeSet StatefulSetAutoDeletePVC StatefulSetMinReadySeconds StatefulSetStartOrdinal
StreamingCollectionEncodingToJSON StreamingCollectionEncodingToProtobuf StructuredAuthenticationConfiguration
StructuredAuthorizationConfiguration SupplementalGroupsPolicy TopologyAwareHints TopologyManagerPolicyOptions
ValidatingAdmissionPolicy VolumeAttributesClass WatchBookmark WinDSR WinOverlay ZeroLimitedNominalConcurrencyShares
`;

/** Switches for behaviour of old, to be gone. */
const deprecatedOff = `
AllowDNSOnlyNodeCSR AllowInsecureKubeletCertificateSigningRequests ChangeContainerStatusOnKubeletRestart
GitRepoVolumeDriver KMSv1
`;
const deprecatedOn = `
DisableNodeKubeProxyVersion
`;
const deprecatedOffLocked = `
AllowOverwriteTerminationGracePeriodSeconds AllowServiceLBStatusOnNonLB
`;

const gates: ReadonlyMap<string, FeatureGate> = new Map(
  [
    ...gatesOf(alpha, { default: false, stage: "ALPHA", locked: false }),
    ...gatesOf(betaOn, { default: true, stage: "BETA", locked: false }),
    ...gatesOf(betaOff, { default: false, stage: "BETA", locked: false }),
    ...gatesOf(gaOn, { default: true, stage: "GA", locked: false }),
    ...gatesOf(gaLocked, { default: true, stage: "GA", locked: true }),
    ...gatesOf(deprecatedOff, { default: false, stage: "DEPRECATED", locked: false }),
    ...gatesOf(deprecatedOn, { default: true, stage: "DEPRECATED", locked: false }),
    ...gatesOf(deprecatedOffLocked, { default: false, stage: "DEPRECATED", locked: true }),
  ].map((gate) => [gate.name, gate]),
);

function gatesOf(names: string, rest: Omit<FeatureGate, "name">): FeatureGate[] {
  return names
    .trim()
    .split(/\s+/)
    .map((name) => ({ name, ...rest }));
}

/** The state of every gate after the command line was read. */
export interface FeatureGates {
  /** Whether the gate is on. An unknown name is our mistake. */
  enabled(name: string): boolean;
  /** About gates that were named although there is no need to, or will be none. */
  readonly warnings: readonly string[];
  /** Every gate with its state, ordered by name; for `/flagz` and metrics. */
  list(): readonly (FeatureGate & { readonly enabled: boolean })[];
}

/**
 * Applies `--feature-gates` to the defaults. `AllAlpha` and `AllBeta` set what is not named itself, whatever the order.
 * @throws StartupError for an unknown gate, and for a change of a locked one
 */
export function resolveFeatureGates(asked: ReadonlyMap<string, boolean>): FeatureGates {
  for (const [name, value] of asked) {
    if (name === "AllAlpha" || name === "AllBeta") continue;
    const gate = gates.get(name);
    if (gate === undefined) {
      throw new StartupError(
        `--feature-gates: unknown feature gate ${JSON.stringify(name)}: check its spelling or leave it out`,
      );
    }
    if (gate.locked && value !== gate.default) {
      throw new StartupError(
        `--feature-gates: cannot set feature gate ${name} to ${value}, it is locked to ${gate.default}: leave it out`,
      );
    }
  }
  const states = new Map(
    [...gates.values()].map((gate) => [gate.name, asked.get(gate.name) ?? stageState(gate, asked)]),
  );
  // One validator cannot take over from the other when it does not run.
  if (states.get("DeclarativeValidation") === false) states.set("DeclarativeValidationTakeover", false);
  return {
    enabled(name) {
      const state = states.get(name);
      if (state === undefined) throw new Error(`feature gate ${name} is not in the table`);
      return state;
    },
    warnings: [...asked].flatMap(([name, value]) => warningsOf(name, value)),
    list: () =>
      [...gates.values()]
        .map((gate) => ({ ...gate, enabled: states.get(gate.name) ?? gate.default }))
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

function warningsOf(name: string, value: boolean): string[] {
  const stage = gates.get(name)?.stage;
  if (stage !== "GA" && stage !== "DEPRECATED") return [];
  const label = stage === "GA" ? "GA" : "deprecated";
  return [`Setting ${label} feature gate ${name}=${value}. It will be removed in a future release.`];
}

function stageState(gate: FeatureGate, asked: ReadonlyMap<string, boolean>): boolean {
  if (gate.stage === "ALPHA") return asked.get("AllAlpha") ?? gate.default;
  if (gate.stage === "BETA") return asked.get("AllBeta") ?? gate.default;
  return gate.default;
}
