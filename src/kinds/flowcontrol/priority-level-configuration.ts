import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validatePriorityLevel } from "../validation/priority-level-configuration.ts";
import { validateTypedConditions } from "../validation/typed-conditions.ts";

export const priorityLevelStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  generationFields: ["spec"],
  resetFields: ["status"],
  validate: validatePriorityLevel,
};

export const priorityLevelStatusStrategy: Strategy = {
  ...statusStrategy(priorityLevelStrategy),
  validate: validateTypedConditions,
};
