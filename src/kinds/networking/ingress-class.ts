import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateIngressClass, validateIngressClassUpdate } from "../validation/ingress-class.ts";

export const ingressClassStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  generationFields: ["spec"],
  validate: validateIngressClass,
  validateUpdate: validateIngressClassUpdate,
};
