import type { Cells } from "../../api/codec/table/table-rules.ts";
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
  metaRules: "whole",
  validate: validateVolumeAttachmentStatus,
};

export const volumeAttachment = builtInKind("volumeattachments.storage.k8s.io", {
  endpoint: stored(volumeAttachmentStrategy),
  table: { cells: volumeAttachmentCells },
  subresources: {
    status: subresource(volumeAttachmentStatusStrategy),
  },
  descriptions: {
    "storage/v1.VolumeAttachment": { "": "A request to attach a volume to a node." },
    "storage/v1.VolumeAttachmentSpec": {
      "": "The volume, the node and the driver.",
      attacher: "Driver that attaches it.",
      source: "The volume.",
      nodeName: "The node.",
    },
    "storage/v1.VolumeAttachmentStatus": {
      "": "The observed state.",
      attached: "Whether the volume is attached.",
      attachmentMetadata: "Data for the node.",
      attachError: "Why attaching failed.",
      detachError: "Why detaching failed.",
    },
  },
});

function volumeAttachmentCells({ spec, status }: storageV1.VolumeAttachment): Cells {
  return {
    Attacher: spec.attacher,
    PV: spec.source.persistentVolumeName ?? "",
    Node: spec.nodeName,
    Attached: status?.attached ?? false,
  };
}
