import type { Strategy } from "../../registry/strategy.ts";
import { validatePodDisruptionBudget, validatePodDisruptionBudgetStatus } from "../validation/pod-disruption-budget.ts";
import { specStrategy, statusRules } from "../spec-strategy.ts";

export const podDisruptionBudgetStrategy: Strategy = {
  ...specStrategy,
  allowUnconditionalUpdate: false,
  validate: validatePodDisruptionBudget,
};

export const podDisruptionBudgetStatusStrategy = statusRules(
  podDisruptionBudgetStrategy,
  validatePodDisruptionBudgetStatus,
);
