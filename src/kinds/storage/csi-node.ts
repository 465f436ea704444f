import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateCsiNode, validateCsiNodeUpdate } from "./validation/csi-node.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import { structIn, structsIn } from "../../api/codec/table/reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";

const csiNodeStrategy: Strategy = {
  ...defaultStrategy,
  metaRules: "whole",
  coversSchema: true,
  allowUnconditionalUpdate: false,
  validate: validateCsiNode,
  validateUpdate: validateCsiNodeUpdate,
};

export const csiNode = builtInKind("csinodes.storage.k8s.io", {
  endpoint: stored(csiNodeStrategy),
  table: { cells: csiNodeCells },
});

function csiNodeCells(node: JsonObject): Cells {
  return { Drivers: structsIn(structIn(node, "spec"), "drivers").length };
}
