import type { Strategy } from "../../registry/strategy.ts";
import {
  validateReplicationController,
  validateReplicationControllerStatus,
} from "../validation/replication-controller.ts";
import { workloadWarnings } from "../warnings/workload-warnings.ts";
import { specStrategy, statusRules } from "../spec-strategy.ts";

export const replicationControllerStrategy: Strategy = {
  ...specStrategy,
  orphansByDefault: true,
  validate: validateReplicationController,
  warnings: workloadWarnings,
};

export const replicationControllerStatusStrategy = statusRules(
  replicationControllerStrategy,
  validateReplicationControllerStatus,
);
