/** Resources that exist only while a feature gate is on, by `<group>/<resource>`. Being served is asked for as well. */
const gates: ReadonlyMap<string, string> = new Map([
  ["admissionregistration.k8s.io/mutatingadmissionpolicies", "MutatingAdmissionPolicy"],
  ["admissionregistration.k8s.io/mutatingadmissionpolicybindings", "MutatingAdmissionPolicy"],
  ["certificates.k8s.io/clustertrustbundles", "ClusterTrustBundle"],
  ["certificates.k8s.io/podcertificaterequests", "PodCertificateRequest"],
  ["coordination.k8s.io/leasecandidates", "CoordinatedLeaderElection"],
  ["internal.apiserver.k8s.io/storageversions", "StorageVersionAPI"],
  ["resource.k8s.io/devicetaintrules", "DRADeviceTaintRules"],
  ["resource.k8s.io/resourcepoolstatusrequests", "DRAResourcePoolStatus"],
  ["storagemigration.k8s.io/storageversionmigrations", "StorageVersionMigrator"],
]);

/** The gate that a resource needs; undefined for most. */
export function gateOfResource(group: string, resource: string): string | undefined {
  return gates.get(`${group}/${resource}`);
}
