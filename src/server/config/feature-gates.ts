import { StartupError } from "../../process/startup-error.ts";

export type FeatureStage = "ALPHA" | "BETA" | "GA" | "DEPRECATED";

export interface FeatureGate {
  readonly name: string;
  readonly default: boolean;
  readonly stage: FeatureStage;
  /** Whether the default is fixed. A flag may repeat it, but not contradict it. */
  readonly locked: boolean;
}

/** Off by default. These may change or disappear. */
const alpha = `
APIServingWithRoutine AllowUnsafeMalformedObjectDeletion CBORServingAndStorage CPUManagerPolicyAlphaOptions
CRIListStreaming CSIVolumeHealth ClientsAllowCBOR ClientsPreferCBOR
CloudControllerManagerWatchBasedRoutesReconciliation CloudControllerManagerWebhook ContainerStopSignals
ControllerManagerReleaseLeaderElectionLockOnExit CrossNamespaceVolumeDataSource DRAListTypeAttributes
DRANodeAllocatableResources DRAResourcePoolStatus DRAWorkloadResourceClaims EventedPLEG GangScheduling GenericWorkload
HPAScaleToZero ImageVolumeWithDigest InPlacePodVerticalScalingExclusiveCPUs InPlacePodVerticalScalingExclusiveMemory
KubeletInUserNamespace LoggingAlphaOptions ManifestBasedAdmissionControlConfig MemoryQoS MutablePVNodeAffinity
NativeHistograms PersistentVolumeClaimUnusedSinceTime PodAndContainerStatsFromCRI PodLevelResourceManagers
PodLogsQuerySplitStreams PodsAPI QOSReserved ReduceDefaultCrashLoopBackOffDecay RuntimeClassInImageCriApi
ShardedListAndWatch StorageCapacityScoring StorageVersionAPI TaintTolerationComparisonOperators
TopologyAwareWorkloadScheduling TopologyManagerPolicyAlphaOptions UserNamespacesHostNetworkSupport VolumeLimitScaling
WindowsCPUAndMemoryAffinity WorkloadAwarePreemption WorkloadWithJob
`;

/** On by default. */
const betaOn = `
APIResponseCompression APIServerIdentity AllowParsingUserUIDFromCertAuth AtomicFIFO
AuthorizePodWebsocketUpgradeCreatePermission CPUManagerPolicyBetaOptions CRDObservedGenerationTracking
ClearingNominatedNodeNameAfterBinding ClientsAllowCARotation ClientsAllowTLSCacheGC ComponentFlagz ComponentStatusz
ConstrainedImpersonation ContainerCheckpoint ContainerRestartRules ContextualLogging DRAConsumableCapacity
DRADeviceBindingConditions DRADeviceTaints DRAExtendedResource DRAPartitionableDevices DRAResourceClaimDeviceStatus
DRAResourceClaimGranularStatusAuthorization DRASchedulerFilterTimeout DeclarativeValidationBeta
DeploymentReplicaSetTerminatingReplicas DetectCacheInconsistency EnvFiles ExtendWebSocketsToKubelet
GracefulNodeShutdown GracefulNodeShutdownBasedOnPodPriority HPAConfigurableTolerance HostnameOverride
InOrderInformersBatchProcess InPlacePodLevelResourcesVerticalScaling InPlacePodVerticalScalingInitContainers
KubeletCrashLoopBackOffMax KubeletEnsureSecretPulledImages KubeletSeparateDiskGC
KubeletServiceAccountTokenForCredentialProviders ListFromCacheSnapshot LoggingBetaOptions
MatchLabelKeysInPodTopologySpread MatchLabelKeysInPodTopologySpreadSelectorMerge MutablePodResourcesForSuspendedJobs
MutableSchedulingDirectivesForSuspendedJobs NodeDeclaredFeatures NominatedNodeNameForExpectation OpenAPIEnums
OpportunisticBatching PLEGOnDemandRelist PodDeletionCost PodLevelResources PodReadyToStartContainersCondition
PodTopologyLabelsAdmission PortForwardWebsockets PreventStaticPodAPIReferences RelaxedServiceNameValidation
ReloadKubeletClientCAFile ReloadKubeletServerCertificateFile RemoteRequestHeaderUID ResourceHealthStatus
ResourceHealthStatusMessage RestartAllContainersOnContainerExits RotateKubeletServerCertificate
SchedulerAsyncPreemption SchedulerPopFromBackoffQ ServiceAccountNodeAudienceRestriction SizeBasedListCostEstimate
StaleControllerConsistencyDaemonSet StaleControllerConsistencyJob StaleControllerConsistencyReplicaSet
StaleControllerConsistencyStatefulSet StatefulSetSemanticRevisionComparison StorageVersionHash StrictIPCIDRValidation
StructuredAuthenticationConfigurationEgressSelector StructuredAuthenticationConfigurationJWKSMetrics
TokenRequestServiceAccountUIDValidation TopologyManagerPolicyBetaOptions TranslateStreamCloseWebsocketRequests
UnauthenticatedHTTP2DOSMitigation UnknownVersionInteroperabilityProxy UnlockWhileProcessingFIFO
WatchCacheInitializationPostStartHook WatchList WatchListClient WindowsGracefulNodeShutdown
`;

/** Beta, but off by default. */
const betaOff = `
ClusterTrustBundle ClusterTrustBundleProjection ConcurrentWatchObjectDecode CoordinatedLeaderElection
DRADeviceTaintRules LocalStorageCapacityIsolationFSQuotaMonitoring MaxUnavailableStatefulSet PodCertificateRequest
SELinuxMount SchedulerAsyncAPICalls StorageVersionMigrator
`;

/** Finished and on by default. A flag can still turn them off. */
const gaOn = `
AllowServiceExternalIPs CustomCPUCFSQuotaPeriod DRAPrioritizedList InformerResourceVersion MutatingAdmissionPolicy
`;

/** Always on. The gates exist only so that old command lines still work. */
const gaLocked = `
APIServerTracing AnonymousAuthConfigurableEndpoints AnyVolumeDataSource AuthorizeNodeWithSelectors
AuthorizeWithSelectors BtreeWatchCache CPUManagerPolicyOptions CRDValidationRatcheting CSIServiceAccountTokenSecrets
ConsistentListFromCache CustomResourceFieldSelectors DRAAdminAccess DeclarativeValidation DisableAllocatorDualWrite
DynamicResourceAllocation ExecProbeTimeout ExternalServiceAccountTokenSigner ImageMaximumGCAge ImageVolume
InOrderInformers InPlacePodVerticalScaling JobBackoffLimitPerIndex JobManagedBy JobPodReplacementPolicy
JobSuccessPolicy KubeletCgroupDriverFromCRI KubeletFineGrainedAuthz KubeletPSI KubeletPodResourcesDynamicResources
KubeletPodResourcesGet KubeletTracing LogarithmicScaleDown MatchLabelKeysInPodAffinity MultiCIDRServiceAllocator
MutableCSINodeAllocatableCount NFTablesProxyMode NodeInclusionPolicyInPodTopologySpread NodeLogQuery NodeSwap
OrderedNamespaceDeletion PodLifecycleSleepAction PodLifecycleSleepActionAllowZero PodObservedGenerationTracking
PodSchedulingReadiness PreferSameTrafficDistribution ProcMountType RecoverVolumeExpansionFailure
RecursiveReadOnlyMounts RelaxedDNSSearchValidation RelaxedEnvironmentVariableValidation
ResilientWatchCacheInitialization RetryGenerateName SELinuxChangePolicy SELinuxMountReadWriteOncePod
SchedulerQueueingHints SeparateTaintEvictionController ServiceAccountTokenJTI ServiceAccountTokenNodeBinding
ServiceAccountTokenNodeBindingValidation ServiceAccountTokenPodNodeInfo SidecarContainers
StreamingCollectionEncodingToJSON StreamingCollectionEncodingToProtobuf StructuredAuthenticationConfiguration
SupplementalGroupsPolicy SystemdWatchdog TopologyManagerPolicyOptions UserNamespacesSupport VolumeAttributesClass
WinDSR WinOverlay
`;

/** Gates that restore old behaviour. They will be removed. */
const deprecatedOff = `
AllowDNSOnlyNodeCSR AllowInsecureKubeletCertificateSigningRequests ChangeContainerStatusOnKubeletRestart
DeclarativeValidationTakeover KMSv1 KubeletRegistrationGetOnExistsOnly WindowsHostNetwork
`;
const deprecatedOn = `
DisableCPUQuotaWithExclusiveCPUs KubeletPodResourcesListUseActivePods ServiceCIDRStatusFieldWiping
StorageNamespaceIndex
`;
const deprecatedOffLocked = `
AllowOverwriteTerminationGracePeriodSeconds GitRepoVolumeDriver SeparateCacheWatchRPC
`;
const deprecatedOnLocked = `
AggregatedDiscoveryRemoveBetaType DisableNodeKubeProxyVersion
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
    ...gatesOf(deprecatedOnLocked, { default: true, stage: "DEPRECATED", locked: true }),
  ].map((gate) => [gate.name, gate]),
);

function gatesOf(names: string, rest: Omit<FeatureGate, "name">): FeatureGate[] {
  return names
    .trim()
    .split(/\s+/)
    .map((name) => ({ name, ...rest }));
}

/** The state of every gate. */
export interface FeatureGates {
  /** Reports whether the gate is on. Throws for an unknown name, which would be a bug here. */
  enabled(name: string): boolean;
  /** Warnings about flags for gates that are finished or deprecated. */
  readonly warnings: readonly string[];
  /** Returns every gate with its state, ordered by name, for `/flagz` and metrics. */
  list(): readonly (FeatureGate & { readonly enabled: boolean })[];
}

/**
 * Applies `--feature-gates` to the defaults. `AllAlpha` and `AllBeta` set the gates that are not named, in any order.
 * @throws StartupError for an unknown gate, or for a change of a locked one
 */
export function resolveFeatureGates(asked: ReadonlyMap<string, boolean>): FeatureGates {
  for (const [name, value] of asked) {
    if (name === "AllAlpha" || name === "AllBeta") continue;
    const gate = gates.get(name);
    if (gate === undefined) {
      throw new StartupError(
        `--feature-gates: unknown feature gate ${JSON.stringify(name)}: check its spelling or omit it`,
      );
    }
    if (gate.locked && value !== gate.default) {
      throw new StartupError(
        `--feature-gates: cannot set feature gate ${name} to ${value}, it is locked to ${gate.default}: omit it`,
      );
    }
  }
  const states = new Map(
    [...gates.values()].map((gate) => [gate.name, asked.get(gate.name) ?? stageState(gate, asked)]),
  );
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
