import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateNetworkPolicy } from "./validation/network-policy.ts";
import { builtInKind, stored } from "../../registry/kind.ts";

const networkPolicyStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  generationFields: ["spec"],
  validate: validateNetworkPolicy,
};

export const networkPolicy = builtInKind("networkpolicies.networking.k8s.io", {
  endpoint: stored(networkPolicyStrategy),
});
