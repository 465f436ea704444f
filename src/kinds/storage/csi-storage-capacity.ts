import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateCsiStorageCapacity, validateCsiStorageCapacityUpdate } from "./validation/csi-storage-capacity.ts";
import { builtInKind, stored } from "../../registry/kind.ts";

const csiStorageCapacityStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  allowUnconditionalUpdate: false,
  validate: validateCsiStorageCapacity,
  validateUpdate: validateCsiStorageCapacityUpdate,
};

export const csiStorageCapacity = builtInKind("csistoragecapacities.storage.k8s.io", {
  endpoint: stored(csiStorageCapacityStrategy),
});
