import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import {
  validateHorizontalPodAutoscaler,
  validateHorizontalPodAutoscalerStatus,
} from "./validation/horizontal-pod-autoscaler.ts";
import { statusRules } from "../spec-strategy.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";

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
  subresources: {
    status: subresource(horizontalPodAutoscalerStatusStrategy),
  },
});
