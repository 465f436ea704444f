import type { PersistentVolumeClaim, TypedLocalObjectReference } from "../../api/types/core-v1.ts";

/**
 * Settles the two fields that say what a claim is filled from. The older one ignores everything but claims and
 * snapshots, as it did when there was nothing else; then each shows what the other says. A source in another namespace
 * has no older form.
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
