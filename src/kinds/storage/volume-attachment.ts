import { objectOf, textOf } from "../../api/json-reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";
import type * as storageV1 from "../../api/types/storage-v1.ts";
import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import {
  validateVolumeAttachment,
  validateVolumeAttachmentStatus,
  validateVolumeAttachmentUpdate,
} from "./validation/volume-attachment.ts";

const volumeAttachmentStrategy: Strategy<storageV1.VolumeAttachment> = {
  ...defaultStrategy,
  metaRules: "whole",
  coversSchema: true,
  allowUnconditionalUpdate: false,
  returnsDeletedObject: true,
  resetFields: ["status"],
  validate: validateVolumeAttachment,
  validateUpdate: validateVolumeAttachmentUpdate,
};

const volumeAttachmentStatusStrategy: Strategy<storageV1.VolumeAttachment> = {
  ...statusStrategy(volumeAttachmentStrategy, { keepsMetadata: true }),
  validate: validateVolumeAttachmentStatus,
};

export const volumeAttachment = builtInKind("volumeattachments.storage.k8s.io", {
  endpoint: stored(volumeAttachmentStrategy),
  table: { cells: volumeAttachmentCells },
  subresources: {
    status: subresource(volumeAttachmentStatusStrategy),
  },
});

function volumeAttachmentCells(attachment: JsonObject): Cells {
  const spec = objectOf(attachment["spec"]);
  return {
    Attacher: textOf(spec["attacher"]),
    PV: textOf(objectOf(spec["source"])["persistentVolumeName"]),
    Node: textOf(spec["nodeName"]),
    Attached: objectOf(attachment["status"])["attached"] === true,
  };
}
