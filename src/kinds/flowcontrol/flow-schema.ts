import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateFlowSchema } from "./validation/flow-schema.ts";
import { validateTypedConditions } from "../../api/validation/typed-conditions.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";

const flowSchemaStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  generationFields: ["spec"],
  resetFields: ["status"],
  validate: validateFlowSchema,
};

const flowSchemaStatusStrategy: Strategy = {
  ...statusStrategy(flowSchemaStrategy),
  validate: validateTypedConditions,
};

export const flowSchema = builtInKind("flowschemas.flowcontrol.apiserver.k8s.io", {
  endpoint: stored(flowSchemaStrategy),
  subresources: {
    status: subresource(flowSchemaStatusStrategy),
  },
});
