import type { Strategy } from "../../registry/strategy.ts";
import { validatePodDisruptionBudget, validatePodDisruptionBudgetStatus } from "./validation/pod-disruption-budget.ts";
import { specStrategy, statusRules } from "../spec-strategy.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";

const podDisruptionBudgetStrategy: Strategy = {
  ...specStrategy,
  allowUnconditionalUpdate: false,
  validate: validatePodDisruptionBudget,
};

const podDisruptionBudgetStatusStrategy = statusRules(podDisruptionBudgetStrategy, validatePodDisruptionBudgetStatus);

export const podDisruptionBudget = builtInKind("poddisruptionbudgets.policy", {
  endpoint: stored(podDisruptionBudgetStrategy),
  subresources: {
    status: subresource(podDisruptionBudgetStatusStrategy),
  },
});
