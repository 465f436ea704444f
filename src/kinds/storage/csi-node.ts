import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { CSINode } from "../../api/types/storage-v1.ts";
import { defaultStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import { validateCsiNode, validateCsiNodeUpdate } from "./validation/csi-node.ts";

export const csiNode = builtInKind("csinodes.storage.k8s.io", {
  endpoint: stored({
    ...defaultStrategy,
    metaRules: "whole",
    coversSchema: true,
    allowUnconditionalUpdate: false,
    returnsDeletedObject: true,
    validate: validateCsiNode,
    validateUpdate: validateCsiNodeUpdate,
  }),
  table: { cells: csiNodeCells },
  descriptions: {
    "storage/v1.CSINode": { "": "The CSI drivers of a node; its name is the node's." },
    "storage/v1.CSINodeSpec": { "": "The drivers.", drivers: "Drivers that are installed." },
  },
});

function csiNodeCells({ spec }: CSINode): Cells {
  return { Drivers: (spec.drivers ?? []).length };
}
