import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { PodDisruptionBudget } from "../../api/types/policy-v1.ts";
import { pathSegmentProblems } from "../../api/validation/names.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { specStrategy, statusRules } from "../spec-strategy.ts";
import { validatePodDisruptionBudget, validatePodDisruptionBudgetStatus } from "./validation/pod-disruption-budget.ts";

const podDisruptionBudgetStrategy: Strategy<PodDisruptionBudget> = {
  ...specStrategy,
  metaRules: "none",
  allowsBareFinalizers: true,
  allowUnconditionalUpdate: false,
  validateName: pathSegmentProblems,
  validate: validatePodDisruptionBudget,
};

const podDisruptionBudgetStatusStrategy = statusRules(podDisruptionBudgetStrategy, validatePodDisruptionBudgetStatus);

export const podDisruptionBudget = builtInKind("poddisruptionbudgets.policy", {
  endpoint: stored(podDisruptionBudgetStrategy),
  table: { cells: podDisruptionBudgetCells },
  subresources: {
    status: subresource(podDisruptionBudgetStatusStrategy),
  },
  descriptions: {
    "policy/v1.PodDisruptionBudget": { "": "Limits on voluntary disruptions of a set of pods." },
    "policy/v1.PodDisruptionBudgetSpec": {
      "": "The budget.",
      minAvailable: "Number or percentage of pods that must stay available.",
      selector: "The pods that the budget is for.",
      maxUnavailable: "Number or percentage of pods that may be unavailable.",
      unhealthyPodEvictionPolicy: "When pods that are not ready may go: IfHealthyBudget or AlwaysAllow.",
    },
    "policy/v1.PodDisruptionBudgetStatus": {
      "": "The observed pods.",
      disruptedPods: "Pods that are going, with the time of the eviction.",
      disruptionsAllowed: "Number of pods that may be evicted now.",
      currentHealthy: "Pods that are ready.",
      desiredHealthy: "Number of pods that must be ready.",
      expectedPods: "Pods that the budget is for.",
    },
  },
});

function podDisruptionBudgetCells({ spec = {}, status }: PodDisruptionBudget): Cells {
  return {
    "Min Available": String(spec.minAvailable ?? "N/A"),
    "Max Unavailable": String(spec.maxUnavailable ?? "N/A"),
    "Allowed Disruptions": status?.disruptionsAllowed ?? 0,
  };
}
