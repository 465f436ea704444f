import type { Strategy } from "../../registry/strategy.ts";
import {
  validateReplicationController,
  validateReplicationControllerStatus,
} from "./validation/replication-controller.ts";
import { workloadWarnings } from "./workload-warnings.ts";
import { specStrategy, statusRules } from "../spec-strategy.ts";
import { builtInKind, stored, subresource, view } from "../../registry/kind.ts";
import { scaleViewOf } from "../autoscaling/scale.ts";

const replicationControllerStrategy: Strategy = {
  ...specStrategy,
  orphansByDefault: true,
  validate: validateReplicationController,
  warnings: workloadWarnings,
};

const replicationControllerStatusStrategy = statusRules(
  replicationControllerStrategy,
  validateReplicationControllerStatus,
);

export const replicationController = builtInKind("replicationcontrollers", {
  endpoint: stored(replicationControllerStrategy),
  subresources: {
    scale: view(scaleViewOf),
    status: subresource(replicationControllerStatusStrategy),
  },
});
