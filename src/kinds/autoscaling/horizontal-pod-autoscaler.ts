import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { HorizontalPodAutoscaler } from "../../api/types/autoscaling-v2.ts";
import type { Strategy } from "../../registry/strategy.ts";
import {
  validateHorizontalPodAutoscaler,
  validateHorizontalPodAutoscalerStatus,
} from "./validation/horizontal-pod-autoscaler.ts";
import { statusRules } from "../spec-strategy.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import { horizontalPodAutoscalerCells } from "./horizontal-pod-autoscaler-cells.ts";
import { autoscalerConversion } from "./conversion.ts";
import { defaultAutoscaler, defaultReplicas } from "./defaults/horizontal-pod-autoscaler.ts";

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
});
