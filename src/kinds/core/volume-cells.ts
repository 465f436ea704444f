import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../../api/types/core-v1.ts";

const storageClassAnnotation = "volume.beta.kubernetes.io/storage-class";

/** Access modes in the order and under the names in which they are shown. */
const accessModes: readonly (readonly [mode: string, shown: string])[] = [
  ["ReadWriteOnce", "RWO"],
  ["ReadOnlyMany", "ROX"],
  ["ReadWriteMany", "RWX"],
  ["ReadWriteOncePod", "RWOP"],
];

/** Returns the cells that volumes and claims have in common. */
export function claimedCells({ metadata, spec = {}, status = {} }: PersistentVolume | PersistentVolumeClaim): Cells {
  return {
    Status: metadata.deletionTimestamp === undefined ? (status.phase ?? "") : "Terminating",
    StorageClass: metadata.annotations?.[storageClassAnnotation] ?? spec.storageClassName ?? "",
    VolumeAttributesClass: spec.volumeAttributesClassName || "<unset>",
    VolumeMode: spec.volumeMode || "<unset>",
  };
}

export function accessModesText(modes: readonly string[]): string {
  return accessModes
    .filter(([mode]) => modes.includes(mode))
    .map(([, shown]) => shown)
    .join(",");
}
