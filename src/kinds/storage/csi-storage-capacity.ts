import { defaultStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import { validateCsiStorageCapacity, validateCsiStorageCapacityUpdate } from "./validation/csi-storage-capacity.ts";

export const csiStorageCapacity = builtInKind("csistoragecapacities.storage.k8s.io", {
  endpoint: stored({
    ...defaultStrategy,
    coversSchema: true,
    allowUnconditionalUpdate: false,
    validate: validateCsiStorageCapacity,
    validateUpdate: validateCsiStorageCapacityUpdate,
  }),
  descriptions: {
    "storage/v1.CSIStorageCapacity": {
      "": "Free capacity of a class in one part of the cluster.",
      nodeTopology: "The place.",
      storageClassName: "The class.",
      capacity: "Room in total.",
      maximumVolumeSize: "The largest volume.",
    },
  },
});
