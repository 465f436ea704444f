import { cloneJson } from "../../api/json.ts";
import { isGivenEmpty } from "../../api/schema/given-empty.ts";
import type * as autoscalingV1 from "../../api/types/autoscaling-v1.ts";
import type { HorizontalPodAutoscaler, HPAScalingRules, MetricSpec } from "../../api/types/autoscaling-v2.ts";
import { defaultStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { statusRules } from "../spec-strategy.ts";
import { autoscalerConversion } from "./conversion.ts";
import { horizontalPodAutoscalerCells } from "./horizontal-pod-autoscaler-cells.ts";
import {
  validateHorizontalPodAutoscaler,
  validateHorizontalPodAutoscalerStatus,
} from "./validation/horizontal-pod-autoscaler.ts";

const horizontalPodAutoscalerStrategy: Strategy<HorizontalPodAutoscaler> = {
  ...defaultStrategy,
  metaRules: "update",
  coversSchema: true,
  resetFields: ["status"],
  validate: (autoscaler, old) => validateHorizontalPodAutoscaler(autoscaler, old),
};

const horizontalPodAutoscalerStatusStrategy = statusRules(
  horizontalPodAutoscalerStrategy,
  validateHorizontalPodAutoscalerStatus,
);

export const horizontalPodAutoscaler = builtInKind("horizontalpodautoscalers.autoscaling", {
  endpoint: stored(horizontalPodAutoscalerStrategy),
  table: { cells: horizontalPodAutoscalerCells },
  conversions: { v1: autoscalerConversion },
  defaults: {
    "autoscaling/v1.HorizontalPodAutoscaler": defaultReplicas,
    "autoscaling/v2.HorizontalPodAutoscaler": defaultAutoscaler,
  },
  subresources: {
    status: subresource(horizontalPodAutoscalerStatusStrategy),
  },
  descriptions: {
    "autoscaling/v1.HorizontalPodAutoscaler": { "": "Sets the number of replicas of a workload by its CPU load." },
    "autoscaling/v1.HorizontalPodAutoscalerSpec": {
      "": "Rules for scaling.",
      targetCPUUtilizationPercentage: "CPU load that is aimed at, in percent of what pods ask for.",
    },
    "autoscaling/v1.HorizontalPodAutoscalerStatus": {
      "": "The observed state.",
      currentCPUUtilizationPercentage: "CPU load now, in percent of what pods ask for.",
    },
    "autoscaling/v2.HorizontalPodAutoscaler": { "": "Sets the number of replicas of a workload by its metrics." },
    "autoscaling/v2.HorizontalPodAutoscalerSpec": {
      "": "Rules for scaling.",
      scaleTargetRef: "The workload to scale.",
      minReplicas: "Never fewer replicas; 1 by default.",
      maxReplicas: "Never more replicas.",
      metrics: "Metrics that the number follows. The one that asks for most counts.",
      behavior: "Limits on the speed of changes.",
    },
    "autoscaling/v2.HorizontalPodAutoscalerStatus": {
      "": "The observed state.",
      lastScaleTime: "When the number was changed last.",
      currentReplicas: "Current number of replicas.",
      desiredReplicas: "Desired number of replicas.",
      currentMetrics: "The metrics as they were read last.",
    },
  },
});

const cpuMetric: MetricSpec = {
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } },
};

/** Every 15 seconds, doubles the pods or adds four, whichever is more. */
const scaleUp: HPAScalingRules = {
  stabilizationWindowSeconds: 0,
  selectPolicy: "Max",
  policies: [
    { type: "Pods", value: 4, periodSeconds: 15 },
    { type: "Percent", value: 100, periodSeconds: 15 },
  ],
};

const scaleDown: HPAScalingRules = {
  selectPolicy: "Max",
  policies: [{ type: "Percent", value: 100, periodSeconds: 15 }],
};

function defaultAutoscaler(autoscaler: HorizontalPodAutoscaler): void {
  defaultReplicas(autoscaler);
  const { spec } = autoscaler;
  if (spec === undefined) return;
  if ((spec.metrics ?? []).length === 0) spec.metrics = [cloneJson(cpuMetric)];
  const { behavior } = spec;
  if (behavior === undefined) return;
  behavior.scaleUp = rulesWithDefaults(behavior.scaleUp, scaleUp);
  behavior.scaleDown = rulesWithDefaults(behavior.scaleDown, scaleDown);
}

/** An empty list of policies stays empty, and is refused later. */
function rulesWithDefaults(given: HPAScalingRules = {}, defaults: HPAScalingRules): HPAScalingRules {
  const rules = { ...cloneJson(defaults), ...given };
  if (isGivenEmpty(given, "policies")) rules.policies = [];
  return rules;
}

/** Sets the defaults that autoscaling/v1 has too. */
function defaultReplicas({ spec }: HorizontalPodAutoscaler | autoscalingV1.HorizontalPodAutoscaler): void {
  if (spec !== undefined) spec.minReplicas ??= 1;
}
