import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateIngress, validateIngressStatus } from "./validation/ingress.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";

const ingressStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  generationFields: ["spec"],
  resetFields: ["status"],
  validate: validateIngress,
};

const ingressStatusStrategy: Strategy = {
  ...statusStrategy(ingressStrategy),
  validate: validateIngressStatus,
};

export const ingress = builtInKind("ingresses.networking.k8s.io", {
  endpoint: stored(ingressStrategy),
  subresources: {
    status: subresource(ingressStatusStrategy),
  },
});
