import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateIngressClass, validateIngressClassUpdate } from "./validation/ingress-class.ts";
import { builtInKind, stored } from "../../registry/kind.ts";

const ingressClassStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  generationFields: ["spec"],
  validate: validateIngressClass,
  validateUpdate: validateIngressClassUpdate,
};

export const ingressClass = builtInKind("ingressclasses.networking.k8s.io", {
  endpoint: stored(ingressClassStrategy),
});
