import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateNetworkPolicy } from "../validation/network-policy.ts";

export const networkPolicyStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  generationFields: ["spec"],
  validate: validateNetworkPolicy,
};
