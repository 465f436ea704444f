import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import {
  validateVolumeAttachment,
  validateVolumeAttachmentStatus,
  validateVolumeAttachmentUpdate,
} from "./validation/volume-attachment.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";

const volumeAttachmentStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  allowUnconditionalUpdate: false,
  resetFields: ["status"],
  validate: validateVolumeAttachment,
  validateUpdate: validateVolumeAttachmentUpdate,
};

const volumeAttachmentStatusStrategy: Strategy = {
  ...statusStrategy(volumeAttachmentStrategy),
  validate: validateVolumeAttachmentStatus,
};

export const volumeAttachment = builtInKind("volumeattachments.storage.k8s.io", {
  endpoint: stored(volumeAttachmentStrategy),
  subresources: {
    status: subresource(volumeAttachmentStatusStrategy),
  },
});
