import type { Strategy } from "../../strategy.ts";
import {
  validateReplicationController,
  validateReplicationControllerStatus,
} from "../../validation/replication-controller.ts";
import { specStrategy, statusRules } from "../spec-strategy.ts";

export const replicationControllerStrategy: Strategy = {
  ...specStrategy,
  orphansByDefault: true,
  validate: validateReplicationController,
};

export const replicationControllerStatusStrategy = statusRules(
  replicationControllerStrategy,
  validateReplicationControllerStatus,
);
