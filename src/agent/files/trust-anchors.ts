import { matchesLabels } from "../../api/label-selector.ts";
import { labelSelectorOf } from "../../api/label-selector-object.ts";
import type { ClusterTrustBundle } from "../../api/types/certificates-v1beta1.ts";
import type { ClusterTrustBundleProjection } from "../../api/types/core-v1.ts";

/** Returns the certificates that a projection selects, each once, as PEM. @throws Error with upstream's message */
export function trustAnchors(
  bundles: readonly ClusterTrustBundle[],
  { name, signerName, labelSelector, optional = false }: ClusterTrustBundleProjection,
): string {
  if (name !== undefined) {
    const bundle = bundles.find(({ metadata }) => metadata.name === name);
    if (bundle !== undefined) return certificatesOf([bundle]);
    if (optional) return "";
    throw new Error(`while getting ClusterTrustBundle: clustertrustbundle.certificates.k8s.io "${name}" not found`);
  }
  if (signerName === undefined) {
    throw new Error("ClusterTrustBundle projection requires either name or signerName to be set");
  }
  // An absent selector selects nothing, an empty one everything.
  const selector = labelSelector === undefined ? undefined : labelSelectorOf(labelSelector);
  const selected = bundles.filter(
    ({ spec, metadata }) =>
      spec.signerName === signerName && selector !== undefined && matchesLabels(selector, metadata.labels),
  );
  if (selected.length > 0) return certificatesOf(selected);
  if (optional) return "";
  throw new Error("combination of signerName and labelSelector matched zero ClusterTrustBundles");
}

function certificatesOf(bundles: readonly ClusterTrustBundle[]): string {
  const block = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;
  const blocks = bundles.flatMap(({ spec }) => spec.trustBundle.match(block) ?? []);
  return [...new Set(blocks)].map((one) => `${one}\n`).join("");
}
