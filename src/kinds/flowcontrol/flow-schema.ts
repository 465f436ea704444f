import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateFlowSchema } from "../validation/flow-schema.ts";
import { validateTypedConditions } from "../validation/typed-conditions.ts";

export const flowSchemaStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  generationFields: ["spec"],
  resetFields: ["status"],
  validate: validateFlowSchema,
};

export const flowSchemaStatusStrategy: Strategy = {
  ...statusStrategy(flowSchemaStrategy),
  validate: validateTypedConditions,
};
