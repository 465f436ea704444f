import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { StorageClass } from "../../api/types/storage-v1.ts";
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

function storageClassCells(storageClass: StorageClass): Cells {
  const { name = "", annotations = {} } = storageClass.metadata;
  const isDefault = defaultClassAnnotations.some((annotation) => annotations[annotation] === "true");
  return {
    Name: `${name}${isDefault ? " (default)" : ""}`,
    Provisioner: storageClass.provisioner,
    ReclaimPolicy: storageClass.reclaimPolicy || "Delete",
    VolumeBindingMode: storageClass.volumeBindingMode || "Immediate",
    AllowVolumeExpansion: storageClass.allowVolumeExpansion ?? false,
  };
}
