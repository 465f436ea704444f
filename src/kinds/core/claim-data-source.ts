import type { PersistentVolumeClaim, TypedLocalObjectReference } from "../../api/types/core-v1.ts";

/**
 * Sets each of the two fields with the source of a claim's data from the other. The older one only knows claims and
 * snapshots, and no other namespaces.
 */
export function settleDataSource({ spec }: PersistentVolumeClaim, old?: PersistentVolumeClaim): void {
  if (spec === undefined) return;
  const hadSource = old?.spec?.dataSource !== undefined || old?.spec?.dataSourceRef !== undefined;
  const { dataSource: older, dataSourceRef: newer } = spec;
  if (newer !== undefined) {
    const { namespace = "", ...reference } = newer;
    if (older === undefined && namespace === "") spec.dataSource = reference;
  } else if (older !== undefined) {
    if (hadSource || isClaimOrSnapshot(older)) spec.dataSourceRef = { ...older };
    else delete spec.dataSource;
  }
}

function isClaimOrSnapshot({ apiGroup, kind }: TypedLocalObjectReference): boolean {
  if ((apiGroup ?? "") === "") return kind === "PersistentVolumeClaim";
  return apiGroup === "snapshot.storage.k8s.io" && kind === "VolumeSnapshot";
}
