import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateCsiNode, validateCsiNodeUpdate } from "./validation/csi-node.ts";
import { builtInKind, stored } from "../../registry/kind.ts";

const csiNodeStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  allowUnconditionalUpdate: false,
  validate: validateCsiNode,
  validateUpdate: validateCsiNodeUpdate,
};

export const csiNode = builtInKind("csinodes.storage.k8s.io", {
  endpoint: stored(csiNodeStrategy),
});
