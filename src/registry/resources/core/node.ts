import { defaultStrategy } from "../../default-strategy.ts";
import type { Strategy } from "../../strategy.ts";
import { validateNode, validateNodeUpdate } from "../../validation/node.ts";

export const nodeStrategy: Strategy = {
  ...defaultStrategy,
  validate: validateNode,
  validateUpdate: validateNodeUpdate,
  // A node registers itself with its status, so create keeps it; later writes of the node leave it alone.
  prepareForUpdate(object, old) {
    if (old["status"] === undefined) delete object["status"];
    else object["status"] = old["status"];
  },
};
