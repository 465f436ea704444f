import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import {
  validateVolumeAttachment,
  validateVolumeAttachmentStatus,
  validateVolumeAttachmentUpdate,
} from "../validation/volume-attachment.ts";

export const volumeAttachmentStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  allowUnconditionalUpdate: false,
  resetFields: ["status"],
  validate: validateVolumeAttachment,
  validateUpdate: validateVolumeAttachmentUpdate,
};

export const volumeAttachmentStatusStrategy: Strategy = {
  ...statusStrategy(volumeAttachmentStrategy),
  validate: validateVolumeAttachmentStatus,
};
