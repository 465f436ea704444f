import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validatePriorityLevel } from "./validation/priority-level-configuration.ts";
import { validateTypedConditions } from "../../api/validation/typed-conditions.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";

const priorityLevelStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  generationFields: ["spec"],
  resetFields: ["status"],
  validate: validatePriorityLevel,
};

const priorityLevelStatusStrategy: Strategy = {
  ...statusStrategy(priorityLevelStrategy),
  validate: validateTypedConditions,
};

export const priorityLevelConfiguration = builtInKind("prioritylevelconfigurations.flowcontrol.apiserver.k8s.io", {
  endpoint: stored(priorityLevelStrategy),
  subresources: {
    status: subresource(priorityLevelStatusStrategy),
  },
});
