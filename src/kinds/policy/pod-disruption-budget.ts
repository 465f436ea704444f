import type { PodDisruptionBudget } from "../../api/types/policy-v1.ts";
import { pathSegmentProblems } from "../../api/validation/names.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validatePodDisruptionBudget, validatePodDisruptionBudgetStatus } from "./validation/pod-disruption-budget.ts";
import { specStrategy, statusRules } from "../spec-strategy.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import { numberOf, objectOf } from "../../api/json-reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";

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
});

function podDisruptionBudgetCells(budget: JsonObject): Cells {
  const spec = objectOf(budget["spec"]);
  return {
    "Min Available": String(spec["minAvailable"] ?? "N/A"),
    "Max Unavailable": String(spec["maxUnavailable"] ?? "N/A"),
    "Allowed Disruptions": numberOf(objectOf(budget["status"])["disruptionsAllowed"]),
  };
}
