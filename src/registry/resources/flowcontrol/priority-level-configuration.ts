import { defaultStrategy, statusStrategy } from "../../default-strategy.ts";
import type { Strategy } from "../../strategy.ts";
import { validatePriorityLevel } from "../../validation/priority-level-configuration.ts";
import { validateTypedConditions } from "../../validation/typed-conditions.ts";

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
