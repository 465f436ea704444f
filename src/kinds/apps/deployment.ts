import type { Strategy } from "../../registry/strategy.ts";
import { validateDeployment, validateDeploymentStatusUpdate } from "./validation/deployment.ts";
import { validateSelectorUpdate } from "./validation/replica-set.ts";
import { workloadWarnings } from "../core/workload-warnings.ts";
import { specStrategy, statusRules } from "../spec-strategy.ts";
import { builtInKind, stored, subresource, view } from "../../registry/kind.ts";
import { scaleViewOf } from "../autoscaling/scale.ts";

const deploymentStrategy: Strategy = {
  ...specStrategy,
  // Annotations count because a deployment gives its own to its replica sets.
  generationFields: ["spec", "metadata.annotations"],
  validate: validateDeployment,
  validateUpdate: validateSelectorUpdate,
  warnings: workloadWarnings,
};

const plainStatusStrategy = statusRules(deploymentStrategy, validateDeploymentStatusUpdate);

const deploymentStatusStrategy: Strategy = {
  ...plainStatusStrategy,
  generationFields: [],
  prepareForUpdate(object, old, nowMs) {
    plainStatusStrategy.prepareForUpdate(object, old, nowMs);
    if (old.metadata.labels === undefined) delete object.metadata.labels;
    else object.metadata.labels = old.metadata.labels;
  },
};

export const deployment = builtInKind("deployments.apps", {
  endpoint: stored(deploymentStrategy),
  subresources: {
    scale: view(scaleViewOf),
    status: subresource(deploymentStatusStrategy),
  },
});
