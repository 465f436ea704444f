import { structIn, textIn } from "../../api/codec/table/reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";

const storageClassAnnotation = "volume.beta.kubernetes.io/storage-class";

/** Access modes in the order and under the names in which they are shown. */
const accessModes: readonly (readonly [mode: string, shown: string])[] = [
  ["ReadWriteOnce", "RWO"],
  ["ReadOnlyMany", "ROX"],
  ["ReadWriteMany", "RWX"],
  ["ReadWriteOncePod", "RWOP"],
];

/** Returns the cells that volumes and claims have in common. */
export function claimedCells(object: JsonObject): Cells {
  const metadata = structIn(object, "metadata");
  const spec = structIn(object, "spec");
  const going = metadata["deletionTimestamp"] !== undefined;
  const annotated = structIn(metadata, "annotations")[storageClassAnnotation];
  return {
    Status: going ? "Terminating" : textIn(structIn(object, "status"), "phase"),
    StorageClass: typeof annotated === "string" ? annotated : textIn(spec, "storageClassName"),
    VolumeAttributesClass: textIn(spec, "volumeAttributesClassName") || "<unset>",
    VolumeMode: textIn(spec, "volumeMode") || "<unset>",
  };
}

export function accessModesText(modes: readonly string[]): string {
  return accessModes
    .filter(([mode]) => modes.includes(mode))
    .map(([, shown]) => shown)
    .join(",");
}
