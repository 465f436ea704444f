import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateCsiNode, validateCsiNodeUpdate } from "../validation/csi-node.ts";

export const csiNodeStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  allowUnconditionalUpdate: false,
  validate: validateCsiNode,
  validateUpdate: validateCsiNodeUpdate,
};
