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
  descriptions: {
    "apps/v1.Deployment": { "": "Keeps a number of equal pods running and replaces them step by step." },
    "apps/v1.DeploymentSpec": {
      "": "The wanted pods.",
      replicas: "Wanted number of pods; 1 by default.",
      selector: "Selects the pods of the deployment. Must match the labels of the template.",
      template: "The pods to make.",
      strategy: "Strategy for replacing old pods by new ones.",
      minReadySeconds: "Seconds that a new pod has to be ready before it counts as available.",
      revisionHistoryLimit: "Number of old revisions to keep for a rollback.",
      paused: "When true, changes of the template wait.",
      progressDeadlineSeconds: "Seconds without progress after which a rollout counts as failed.",
    },
    "apps/v1.DeploymentStatus": {
      "": "The observed pods.",
      replicas: "Number of pods.",
      updatedReplicas: "Pods of the newest template.",
      readyReplicas: "Pods that are ready.",
      availableReplicas: "Pods that have been ready long enough.",
      unavailableReplicas: "Pods that are still missing.",
      terminatingReplicas: "Pods that are going.",
      collisionCount: "Collisions of names of ReplicaSets.",
    },
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
