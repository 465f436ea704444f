import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateRuntimeClass, validateRuntimeClassUpdate } from "./validation/runtime-class.ts";
import { builtInKind, stored } from "../../registry/kind.ts";

const runtimeClassStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  validate: validateRuntimeClass,
  validateUpdate: validateRuntimeClassUpdate,
};

export const runtimeClass = builtInKind("runtimeclasses.node.k8s.io", {
  endpoint: stored(runtimeClassStrategy),
});
