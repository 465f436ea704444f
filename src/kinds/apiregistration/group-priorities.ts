import type { GroupVersion } from "../../api/gvk.ts";

export interface GroupPriority {
  /** Rank of the group; the highest comes first. */
  readonly group: number;
  /** Rank of the version in its group. */
  readonly version: number;
}

/** Ranks of the built-in group versions: that of the group, and those of its versions. */
const builtIn: Readonly<Record<string, readonly [group: number, versions: Readonly<Record<string, number>>]>> = {
  "": [18_000, { v1: 1 }],
  apps: [17_800, { v1: 15 }],
  "events.k8s.io": [17_750, { v1: 15, v1beta1: 5 }],
  "authentication.k8s.io": [17_700, { v1: 15, v1beta1: 9, v1alpha1: 1 }],
  "authorization.k8s.io": [17_600, { v1: 15 }],
  autoscaling: [17_500, { v1: 15, v2: 30 }],
  batch: [17_400, { v1: 15 }],
  "certificates.k8s.io": [17_300, { v1: 15, v1beta1: 9, v1alpha1: 1 }],
  "networking.k8s.io": [17_200, { v1: 15, v1beta1: 9 }],
  policy: [17_100, { v1: 15 }],
  "rbac.authorization.k8s.io": [17_000, { v1: 15 }],
  "storage.k8s.io": [16_800, { v1: 15, v1beta1: 9, v1alpha1: 1 }],
  "apiextensions.k8s.io": [16_700, { v1: 15 }],
  "admissionregistration.k8s.io": [16_700, { v1: 15, v1beta1: 12, v1alpha1: 9 }],
  "scheduling.k8s.io": [16_600, { v1: 15, v1alpha2: 2 }],
  "coordination.k8s.io": [16_500, { v1: 15, v1beta1: 13, v1alpha2: 12 }],
  "node.k8s.io": [16_300, { v1: 15 }],
  "discovery.k8s.io": [16_200, { v1: 15 }],
  "resource.k8s.io": [16_200, { v1: 21, v1beta2: 15, v1beta1: 9, v1alpha3: 1 }],
  "flowcontrol.apiserver.k8s.io": [16_100, { v1: 21 }],
  "internal.apiserver.k8s.io": [16_000, { v1alpha1: 9 }],
  "storagemigration.k8s.io": [15_800, { v1beta1: 9 }],
};

/** Ranks of all group versions of CustomResourceDefinitions. */
export const customPriority: GroupPriority = { group: 1000, version: 100 };

/** Returns the rank of a built-in group version; undefined for one that has no APIService. */
export function builtInPriority({ group, version }: GroupVersion): GroupPriority | undefined {
  const [groupPriority, versions] = builtIn[group] ?? [];
  const versionPriority = versions?.[version];
  if (groupPriority === undefined || versionPriority === undefined) return undefined;
  return { group: groupPriority, version: versionPriority };
}
