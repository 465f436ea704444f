import { structIn, textIn } from "../../api/codec/table/reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";
import { defaultStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import { validateStorageClass, validateStorageClassUpdate } from "./validation/storage-class.ts";

const defaultClassAnnotations = [
  "storageclass.kubernetes.io/is-default-class",
  "storageclass.beta.kubernetes.io/is-default-class",
];

export const storageClass = builtInKind("storageclasses.storage.k8s.io", {
  endpoint: stored({
    ...defaultStrategy,
    coversSchema: true,
    returnsDeletedObject: true,
    validate: validateStorageClass,
    validateUpdate: validateStorageClassUpdate,
  }),
  table: { cells: storageClassCells },
});

function storageClassCells(storageClass: JsonObject): Cells {
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
