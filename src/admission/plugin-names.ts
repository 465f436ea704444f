/**
 * Every admission plugin in the order in which they run, first all that change objects, then all that judge them.
 * `--enable-admission-plugins` and `--disable-admission-plugins` choose among them; their own order means nothing.
 */
const table = {
  AlwaysAdmit: false,
  NamespaceLifecycle: true,
  NamespaceExists: false,
  LimitPodHardAntiAffinityTopology: false,
  LimitRanger: true,
  ServiceAccount: true,
  NodeRestriction: true,
  TaintNodesByCondition: true,
  AlwaysPullImages: false,
  PodSecurity: true,
  Priority: true,
  DefaultTolerationSeconds: true,
  ExtendedResourceToleration: false,
  DefaultStorageClass: true,
  StorageObjectInUseProtection: true,
  OwnerReferencesPermissionEnforcement: false,
  PersistentVolumeClaimResize: true,
  RuntimeClass: true,
  CertificateApproval: true,
  CertificateSigning: true,
  ClusterTrustBundleAttest: true,
  CertificateSubjectRestriction: true,
  DefaultIngressClass: true,
  DenyServiceExternalIPs: false,
  PodTopologyLabels: true,
  ResourceQuota: true,
  AlwaysDeny: false,
} as const satisfies Record<string, boolean>;

export type PluginName = keyof typeof table;

export const pluginNames = Object.keys(table) as readonly PluginName[];

/** In their order: what runs by default, without those disabled, with those enabled. A name on both lists is enabled. */
export function chosenPlugins(enabled: readonly string[], disabled: readonly string[]): readonly PluginName[] {
  return pluginNames.filter((name) => enabled.includes(name) || (table[name] && !disabled.includes(name)));
}
