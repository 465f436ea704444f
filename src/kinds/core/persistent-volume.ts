import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validatePersistentVolume, validatePersistentVolumeUpdate } from "./validation/persistent-volume.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";

const persistentVolumeStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  returnsDeletedObject: true,
  resetFields: ["status"],
  prepareForCreate(volume) {
    volume["status"] = { phase: "Pending" };
  },
  validate: validatePersistentVolume,
  validateUpdate: validatePersistentVolumeUpdate,
};

export const persistentVolume = builtInKind("persistentvolumes", {
  endpoint: stored(persistentVolumeStrategy),
  subresources: {
    status: subresource(statusStrategy(persistentVolumeStrategy)),
  },
});
