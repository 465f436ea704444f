import { objectOf, textOf } from "../../api/json-reading.ts";
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
  descriptions: {
    "core/v1.TopologySelectorTerm": {
      "": "A place of volumes.",
      matchLabelExpressions: "Labels that all have to match.",
    },
    "storage/v1.StorageClass": {
      "": "A kind of storage, and who provides it.",
      provisioner: "Name of the provisioner.",
      parameters: "Settings for the provisioner.",
      reclaimPolicy: "Treatment of volumes when their claims are deleted; Delete by default.",
      mountOptions: "Options for mounting.",
      allowVolumeExpansion: "Whether volumes can grow.",
      volumeBindingMode: "Immediate, or WaitForFirstConsumer: when a pod needs it.",
      allowedTopologies: "Places where volumes may be.",
    },
  },
});

function storageClassCells(storageClass: JsonObject): Cells {
  const metadata = objectOf(storageClass["metadata"]);
  const annotations = objectOf(metadata["annotations"]);
  const isDefault = defaultClassAnnotations.some((name) => annotations[name] === "true");
  return {
    Name: `${textOf(metadata["name"])}${isDefault ? " (default)" : ""}`,
    Provisioner: textOf(storageClass["provisioner"]),
    ReclaimPolicy: textOf(storageClass["reclaimPolicy"]) || "Delete",
    VolumeBindingMode: textOf(storageClass["volumeBindingMode"]) || "Immediate",
    AllowVolumeExpansion: storageClass["allowVolumeExpansion"] === true,
  };
}
