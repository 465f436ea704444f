/** Labels below the system's domains that a node may set on itself. */
export const nodeLabels: ReadonlySet<string> = new Set([
  "kubernetes.io/hostname",
  "topology.kubernetes.io/zone",
  "topology.kubernetes.io/region",
  "failure-domain.beta.kubernetes.io/zone",
  "failure-domain.beta.kubernetes.io/region",
  "node.kubernetes.io/instance-type",
  "beta.kubernetes.io/instance-type",
  "kubernetes.io/os",
  "kubernetes.io/arch",
  "beta.kubernetes.io/os",
  "beta.kubernetes.io/arch",
]);
const nodeLabelDomains = ["kubelet.kubernetes.io", "node.kubernetes.io"];
const systemDomains = ["kubernetes.io", "k8s.io"];

/** Reports whether a node must not set a label on itself, because such labels decide which pods it gets. */
export function isRestrictedNodeLabel(key: string): boolean {
  const slash = key.indexOf("/");
  const domain = slash === -1 ? "" : key.slice(0, slash);
  const isBelow = (parents: readonly string[]) =>
    parents.some((parent) => domain === parent || domain.endsWith(`.${parent}`));
  return isBelow(systemDomains) && !nodeLabels.has(key) && !isBelow(nodeLabelDomains);
}
