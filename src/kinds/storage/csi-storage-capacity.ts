import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateCsiStorageCapacity, validateCsiStorageCapacityUpdate } from "../validation/csi-storage-capacity.ts";

export const csiStorageCapacityStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  allowUnconditionalUpdate: false,
  validate: validateCsiStorageCapacity,
  validateUpdate: validateCsiStorageCapacityUpdate,
};
