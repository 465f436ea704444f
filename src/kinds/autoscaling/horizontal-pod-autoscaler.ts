import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import {
  validateHorizontalPodAutoscaler,
  validateHorizontalPodAutoscalerStatus,
} from "../validation/horizontal-pod-autoscaler.ts";
import { statusRules } from "../spec-strategy.ts";

export const horizontalPodAutoscalerStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  resetFields: ["status"],
  validate: (autoscaler, old) => validateHorizontalPodAutoscaler(autoscaler, old),
};

export const horizontalPodAutoscalerStatusStrategy = statusRules(
  horizontalPodAutoscalerStrategy,
  validateHorizontalPodAutoscalerStatus,
);
