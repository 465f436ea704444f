/**
 * Admission plugins in the order in which they run, first those that change objects, then those that check them. The
 * value says whether the plugin runs by default. `--enable-admission-plugins` and `--disable-admission-plugins` choose
 * among them; the order of these flags does not matter.
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
  PodGroupProtection: true,
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
  PodGroupWorkloadExists: true,
  MutatingAdmissionPolicy: true,
  MutatingAdmissionWebhook: true,
  ValidatingAdmissionPolicy: true,
  ValidatingAdmissionWebhook: true,
  ResourceQuota: true,
  AlwaysDeny: false,
} as const satisfies Record<string, boolean>;

export type PluginName = keyof typeof table;

/** The plugins whose rules are objects of the API. */
export const dynamicPlugins: ReadonlySet<PluginName> = new Set([
  "MutatingAdmissionPolicy",
  "MutatingAdmissionWebhook",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionWebhook",
]);

export const pluginNames = Object.keys(table) as readonly PluginName[];

/**
 * Returns the plugins to run, in order: the defaults without those disabled, with those enabled. A name on both lists
 * is enabled.
 */
export function chosenPlugins(enabled: readonly string[], disabled: readonly string[]): readonly PluginName[] {
  return pluginNames.filter((name) => enabled.includes(name) || (table[name] && !disabled.includes(name)));
}
