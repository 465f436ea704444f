import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validatePersistentVolume, validatePersistentVolumeUpdate } from "../validation/persistent-volume.ts";

export const persistentVolumeStrategy: Strategy = {
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
