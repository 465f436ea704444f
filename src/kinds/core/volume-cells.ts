import { objectOf, textOf } from "../../api/json-reading.ts";
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
  const metadata = objectOf(object["metadata"]);
  const spec = objectOf(object["spec"]);
  const going = metadata["deletionTimestamp"] !== undefined;
  const annotated = objectOf(metadata["annotations"])[storageClassAnnotation];
  return {
    Status: going ? "Terminating" : textOf(objectOf(object["status"])["phase"]),
    StorageClass: typeof annotated === "string" ? annotated : textOf(spec["storageClassName"]),
    VolumeAttributesClass: textOf(spec["volumeAttributesClassName"]) || "<unset>",
    VolumeMode: textOf(spec["volumeMode"]) || "<unset>",
  };
}

export function accessModesText(modes: readonly string[]): string {
  return accessModes
    .filter(([mode]) => modes.includes(mode))
    .map(([, shown]) => shown)
    .join(",");
}
