import { defaultStrategy } from "../../default-strategy.ts";
import type { Strategy } from "../../strategy.ts";
import { validateCsiNode, validateCsiNodeUpdate } from "../../validation/csi-node.ts";

export const csiNodeStrategy: Strategy = {
  ...defaultStrategy,
  allowUnconditionalUpdate: false,
  validate: validateCsiNode,
  validateUpdate: validateCsiNodeUpdate,
};
