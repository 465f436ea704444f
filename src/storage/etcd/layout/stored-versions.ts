import { apiVersionOf, groupResourceText } from "../../../api/gvk.ts";
import { structOf } from "../../../api/scheme/object-form.ts";
import { type ResourceInfo, storedInfo } from "../../../api/scheme/resource.ts";
import { betaDefinition } from "./beta-definition.ts";
import type { StoredVersion } from "./stored-version.ts";

/** The versions of a kind in etcd. */
export interface StoredVersions {
  /** The version that this server keeps in memory. */
  readonly info: ResourceInfo;
  /** The version that is written. */
  readonly written: StoredVersion;
  readonly byApiVersion: ReadonlyMap<string, StoredVersion>;
}

/** Versions that kube-apiserver 1.36 writes where this program keeps another one in memory. */
const writtenVersions: ReadonlyMap<string, string> = new Map([
  ["customresourcedefinitions.apiextensions.k8s.io", "apiextensions.k8s.io/v1beta1"],
  ["devicetaintrules.resource.k8s.io", "resource.k8s.io/v1alpha3"],
  ["mutatingadmissionpolicies.admissionregistration.k8s.io", "admissionregistration.k8s.io/v1beta1"],
  ["mutatingadmissionpolicybindings.admissionregistration.k8s.io", "admissionregistration.k8s.io/v1beta1"],
]);

/**
 * Returns the versions of every built-in kind by the prefix of its keys.
 * @param infos every known version of every kind, served or not
 */
export function storedVersions(infos: readonly ResourceInfo[]): ReadonlyMap<string, StoredVersions> {
  const byPrefix = new Map<string, StoredVersions>();
  for (const [info, versions] of Map.groupBy(infos, storedInfo)) {
    const byApiVersion = new Map<string, StoredVersion>();
    for (const version of new Set([info, ...versions])) byApiVersion.set(apiVersionOf(version), versionOf(version));
    if (info.kind === "CustomResourceDefinition")
      byApiVersion.set(apiVersionOf(betaDefinition(info)), betaDefinition(info));
    const written = byApiVersion.get(writtenVersions.get(groupResourceText(info)) ?? apiVersionOf(info));
    if (written === undefined) throw new Error(`the storage version of ${info.resource} is not known`);
    byPrefix.set(info.keyPrefix, { info, written, byApiVersion });
  }
  return byPrefix;
}

function versionOf(info: ResourceInfo): StoredVersion {
  const { group, version, kind, storedAs } = info;
  const conversion = storedAs?.conversion;
  return { group, version, kind, schema: structOf(info), ...(conversion === undefined ? {} : { conversion }) };
}
