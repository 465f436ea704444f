import { selectorOf } from "../../api/codec/table/selector-text.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { Deployment } from "../../api/types/apps-v1.ts";
import { builtInKind, stored, subresource, view } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { scaleViewOf } from "../autoscaling/scale.ts";
import { workloadWarnings } from "../core/workload-warnings.ts";
import { specStrategy, statusRules } from "../spec-strategy.ts";
import { validateDeployment, validateDeploymentStatusUpdate } from "./validation/deployment.ts";
import { validateSelectorUpdate } from "./validation/replica-set.ts";
import { templateCells } from "./workload-cells.ts";

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

function deploymentCells({ spec, status = {} }: Deployment): Cells {
  return {
    Ready: `${status.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
    "Up-to-date": status.updatedReplicas ?? 0,
    Available: status.availableReplicas ?? 0,
    ...templateCells(spec?.template),
    Selector: selectorOf(spec?.selector ?? undefined) ?? "<invalid>",
  };
}

function defaultDeployment({ spec }: Deployment): void {
  if (spec === undefined) return;
  spec.replicas ??= 1;
  spec.revisionHistoryLimit ??= 10;
  spec.progressDeadlineSeconds ??= 600;
  spec.strategy ??= {};
  spec.strategy.type ||= "RollingUpdate";
  if (spec.strategy.type === "RollingUpdate") {
    spec.strategy.rollingUpdate = { maxUnavailable: "25%", maxSurge: "25%", ...spec.strategy.rollingUpdate };
  }
}
