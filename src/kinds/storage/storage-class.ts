import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import {
  validateStorageClass,
  validateStorageClassUpdate,
  validateVolumeAttributesClass,
  validateVolumeAttributesClassUpdate,
} from "../validation/storage-class.ts";

export const storageClassStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  validate: validateStorageClass,
  validateUpdate: validateStorageClassUpdate,
};

export const volumeAttributesClassStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  validate: validateVolumeAttributesClass,
  validateUpdate: validateVolumeAttributesClassUpdate,
};
