import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import {
  validateHorizontalPodAutoscaler,
  validateHorizontalPodAutoscalerStatus,
} from "./validation/horizontal-pod-autoscaler.ts";
import { statusRules } from "../spec-strategy.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import { horizontalPodAutoscalerCells } from "./horizontal-pod-autoscaler-cells.ts";
import { autoscalerConversion } from "./conversion.ts";

const horizontalPodAutoscalerStrategy: Strategy = {
  ...defaultStrategy,
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
  subresources: {
    status: subresource(horizontalPodAutoscalerStatusStrategy),
  },
});
