/**
 * Resources that exist only while a feature gate is on, by `<group>/<resource>`; their version has to be served as
 * well. Other resources of disabled features can be stored, but have no effect.
 */
const gates: ReadonlyMap<string, string> = new Map([
  ["certificates.k8s.io/clustertrustbundles", "ClusterTrustBundle"],
  ["certificates.k8s.io/podcertificaterequests", "PodCertificateRequest"],
  ["scheduling.k8s.io/podgroups", "GenericWorkload"],
  ["scheduling.k8s.io/workloads", "GenericWorkload"],
  ["storagemigration.k8s.io/storageversionmigrations", "StorageVersionMigrator"],
]);

/** Returns the gate that a resource needs; undefined for most. */
export function gateOfResource(group: string, resource: string): string | undefined {
  return gates.get(`${group}/${resource}`);
}
