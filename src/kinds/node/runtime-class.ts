import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateRuntimeClass, validateRuntimeClassUpdate } from "../validation/runtime-class.ts";

export const runtimeClassStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  validate: validateRuntimeClass,
  validateUpdate: validateRuntimeClassUpdate,
};
