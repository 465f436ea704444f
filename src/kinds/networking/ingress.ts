import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateIngress, validateIngressStatus } from "../validation/ingress.ts";

export const ingressStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  generationFields: ["spec"],
  resetFields: ["status"],
  validate: validateIngress,
};

export const ingressStatusStrategy: Strategy = {
  ...statusStrategy(ingressStrategy),
  validate: validateIngressStatus,
};
