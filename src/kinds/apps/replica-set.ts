import type { Strategy } from "../../registry/strategy.ts";
import { validateReplicaSet, validateReplicaSetStatus, validateSelectorUpdate } from "./validation/replica-set.ts";
import { workloadWarnings } from "../core/workload-warnings.ts";
import { specStrategy, statusRules } from "../spec-strategy.ts";
import { builtInKind, stored, subresource, view } from "../../registry/kind.ts";
import { scaleViewOf } from "../autoscaling/scale.ts";

const replicaSetStrategy: Strategy = {
  ...specStrategy,
  validate: validateReplicaSet,
  validateUpdate: validateSelectorUpdate,
  warnings: workloadWarnings,
};

const replicaSetStatusStrategy = statusRules(replicaSetStrategy, validateReplicaSetStatus);

export const replicaSet = builtInKind("replicasets.apps", {
  endpoint: stored(replicaSetStrategy),
  subresources: {
    scale: view(scaleViewOf),
    status: subresource(replicaSetStatusStrategy),
  },
});
