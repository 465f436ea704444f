import type { Strategy } from "../../registry/strategy.ts";
import { validateReplicaSet, validateReplicaSetStatus, validateSelectorUpdate } from "../validation/replica-set.ts";
import { workloadWarnings } from "../warnings/workload-warnings.ts";
import { specStrategy, statusRules } from "../spec-strategy.ts";

export const replicaSetStrategy: Strategy = {
  ...specStrategy,
  validate: validateReplicaSet,
  validateUpdate: validateSelectorUpdate,
  warnings: workloadWarnings,
};

export const replicaSetStatusStrategy = statusRules(replicaSetStrategy, validateReplicaSetStatus);
