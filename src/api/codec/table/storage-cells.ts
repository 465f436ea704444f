import type { JsonObject, JsonValue } from "../../json.ts";
import type { Cells } from "./cells.ts";
import { structIn, structsIn, textIn, textsIn } from "./reading.ts";

const defaultClassAnnotations = [
  "storageclass.kubernetes.io/is-default-class",
  "storageclass.beta.kubernetes.io/is-default-class",
];
const storageClassAnnotation = "volume.beta.kubernetes.io/storage-class";

/** Access modes in the order and under the names in which they are shown. */
const accessModes: readonly (readonly [mode: string, shown: string])[] = [
  ["ReadWriteOnce", "RWO"],
  ["ReadOnlyMany", "ROX"],
  ["ReadWriteMany", "RWX"],
  ["ReadWriteOncePod", "RWOP"],
];

export function persistentVolumeCells(volume: JsonObject): Cells {
  const spec = structIn(volume, "spec");
  const claim = structIn(spec, "claimRef");
  return {
    ...claimedCells(volume),
    Capacity: quantityText(structIn(spec, "capacity")["storage"]),
    "Access Modes": accessModesText(textsIn(spec, "accessModes")),
    "Reclaim Policy": textIn(spec, "persistentVolumeReclaimPolicy"),
    Claim: spec["claimRef"] === undefined ? "" : `${textIn(claim, "namespace")}/${textIn(claim, "name")}`,
    Reason: textIn(structIn(volume, "status"), "reason"),
  };
}

export function persistentVolumeClaimCells(claim: JsonObject): Cells {
  const volume = textIn(structIn(claim, "spec"), "volumeName");
  const status = structIn(claim, "status");
  return {
    ...claimedCells(claim),
    Volume: volume,
    Capacity: volume === "" ? "" : quantityText(structIn(status, "capacity")["storage"]),
    "Access Modes": volume === "" ? "" : accessModesText(textsIn(status, "accessModes")),
  };
}

export function storageClassCells(storageClass: JsonObject): Cells {
  const metadata = structIn(storageClass, "metadata");
  const annotations = structIn(metadata, "annotations");
  const isDefault = defaultClassAnnotations.some((name) => annotations[name] === "true");
  return {
    Name: `${textIn(metadata, "name")}${isDefault ? " (default)" : ""}`,
    Provisioner: textIn(storageClass, "provisioner"),
    ReclaimPolicy: textIn(storageClass, "reclaimPolicy") || "Delete",
    VolumeBindingMode: textIn(storageClass, "volumeBindingMode") || "Immediate",
    AllowVolumeExpansion: storageClass["allowVolumeExpansion"] === true,
  };
}

export function volumeAttributesClassCells(attributesClass: JsonObject): Cells {
  return { DriverName: textIn(attributesClass, "driverName") };
}

export function volumeAttachmentCells(attachment: JsonObject): Cells {
  const spec = structIn(attachment, "spec");
  return {
    Attacher: textIn(spec, "attacher"),
    PV: textIn(structIn(spec, "source"), "persistentVolumeName"),
    Node: textIn(spec, "nodeName"),
    Attached: structIn(attachment, "status")["attached"] === true,
  };
}

export function csiNodeCells(node: JsonObject): Cells {
  return { Drivers: structsIn(structIn(node, "spec"), "drivers").length };
}

export function csiDriverCells(driver: JsonObject): Cells {
  const spec = structIn(driver, "spec");
  const audiences = structsIn(spec, "tokenRequests").map((request) => textIn(request, "audience"));
  return {
    AttachRequired: spec["attachRequired"] !== false,
    PodInfoOnMount: spec["podInfoOnMount"] === true,
    StorageCapacity: spec["storageCapacity"] === true,
    TokenRequests: spec["tokenRequests"] === undefined ? "<unset>" : audiences.join(","),
    RequiresRepublish: spec["requiresRepublish"] === true,
    Modes: textsIn(spec, "volumeLifecycleModes").join(",") || "<none>",
  };
}

export function csiStorageCapacityCells(capacity: JsonObject): Cells {
  return {
    StorageClassName: textIn(capacity, "storageClassName"),
    Capacity: quantityText(capacity["capacity"]) || "<unset>",
  };
}

/** What volumes and claims have in common. */
function claimedCells(object: JsonObject): Cells {
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

function accessModesText(modes: readonly string[]): string {
  return accessModes
    .filter(([mode]) => modes.includes(mode))
    .map(([, shown]) => shown)
    .join(",");
}

function quantityText(quantity: JsonValue | undefined): string {
  return typeof quantity === "string" || typeof quantity === "number" ? String(quantity) : "";
}
