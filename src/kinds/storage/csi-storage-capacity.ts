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
});
