import type { Deployment } from "../../api/types/apps-v1.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateDeployment, validateDeploymentStatusUpdate } from "./validation/deployment.ts";
import { validateSelectorUpdate } from "./validation/replica-set.ts";
import { workloadWarnings } from "../core/workload-warnings.ts";
import { specStrategy, statusRules } from "../spec-strategy.ts";
import { builtInKind, stored, subresource, view } from "../../registry/kind.ts";
import { scaleViewOf } from "../autoscaling/scale.ts";
import { numberOf, objectOf } from "../../api/json-reading.ts";
import { selectorOf } from "../../api/codec/table/selector-text.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";
import { templateCells } from "./template-cells.ts";
import { defaultDeployment } from "./defaults/deployment.ts";

const deploymentStrategy: Strategy<Deployment> = {
  ...specStrategy,
  metaRules: "update",
  // Annotations count because a deployment gives its own to its replica sets.
  generationFields: ["spec", "metadata.annotations"],
  validate: validateDeployment,
  validateUpdate: validateSelectorUpdate,
  warnings: workloadWarnings,
};

const plainStatusStrategy = statusRules(deploymentStrategy, validateDeploymentStatusUpdate);

const deploymentStatusStrategy: Strategy<Deployment> = {
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
  table: { cells: deploymentCells },
  defaults: {
    "apps/v1.Deployment": defaultDeployment,
  },
  subresources: {
    scale: view(scaleViewOf),
    status: subresource(deploymentStatusStrategy),
  },
});

function deploymentCells(deployment: JsonObject): Cells {
  const status = objectOf(deployment["status"]);
  const spec = objectOf(deployment["spec"]);
  return {
    Ready: `${numberOf(status["readyReplicas"])}/${numberOf(spec["replicas"])}`,
    "Up-to-date": numberOf(status["updatedReplicas"]),
    Available: numberOf(status["availableReplicas"]),
    ...templateCells(spec),
    Selector: selectorOf(spec["selector"]) ?? "<invalid>",
  };
}
