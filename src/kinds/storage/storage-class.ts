import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateStorageClass, validateStorageClassUpdate } from "./validation/storage-class.ts";
import { builtInKind, stored } from "../../registry/kind.ts";

const storageClassStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  validate: validateStorageClass,
  validateUpdate: validateStorageClassUpdate,
};

export const storageClass = builtInKind("storageclasses.storage.k8s.io", {
  endpoint: stored(storageClassStrategy),
});
