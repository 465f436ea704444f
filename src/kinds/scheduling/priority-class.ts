import type { Strategy } from "../../registry/strategy.ts";
import { defaultStrategy } from "../../registry/default-strategy.ts";
import { validatePriorityClass, validatePriorityClassUpdate } from "./validation/priority-class.ts";
import { builtInKind, stored } from "../../registry/kind.ts";

const priorityClassStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  prepareForCreate(object) {
    object.metadata.generation = 1;
  },
  validate: validatePriorityClass,
  validateUpdate: validatePriorityClassUpdate,
};

export const priorityClass = builtInKind("priorityclasses.scheduling.k8s.io", {
  endpoint: stored(priorityClassStrategy),
});
