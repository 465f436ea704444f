import { defaultStrategy } from "../../default-strategy.ts";
import type { Strategy } from "../../strategy.ts";
import { validateIngressClass, validateIngressClassUpdate } from "../../validation/ingress-class.ts";

export const ingressClassStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  generationFields: ["spec"],
  validate: validateIngressClass,
  validateUpdate: validateIngressClassUpdate,
};
