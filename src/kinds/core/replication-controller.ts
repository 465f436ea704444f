import { pairsText } from "../../api/codec/table/cell-text.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import { cloneJson } from "../../api/json.ts";
import { countReaderOf } from "../../api/scheme/selectable-fields.ts";
import type { ReplicationController } from "../../api/types/core-v1.ts";
import { declaredSubdomainProblems } from "../../api/validation/names.ts";
import { builtInKind, stored, subresource, view } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { replicaCells } from "../apps/workload-cells.ts";
import { scaleViewOf } from "../autoscaling/scale.ts";
import { specStrategy, statusRules } from "../spec-strategy.ts";
import { labelAsTemplate, templateLabels } from "./template-labels.ts";
import {
  validateReplicationController,
  validateReplicationControllerStatus,
} from "./validation/replication-controller.ts";
import { templateWarnings, workloadWarnings } from "./workload-warnings.ts";

const replicationControllerStrategy: Strategy<ReplicationController> = {
  ...specStrategy,
  validateName: declaredSubdomainProblems,
  validatesPrefix: false,
  metaRules: "update",
  orphansByDefault: true,
  validate: validateReplicationController,
  // For an update, upstream checks the old template.
  warnings: (controller, old) =>
    old === undefined ? workloadWarnings(controller) : templateWarnings({ ...old, metadata: controller.metadata }, old),
};

const replicationControllerStatusStrategy = statusRules(
  replicationControllerStrategy,
  validateReplicationControllerStatus,
);

export const replicationController = builtInKind("replicationcontrollers", {
  endpoint: stored(replicationControllerStrategy),
  table: { cells: replicationControllerCells },
  labels: { readers: { "status.replicas": countReaderOf("status.replicas") } },
  defaults: {
    "core/v1.ReplicationController": defaultReplicationController,
  },
  subresources: {
    scale: view(scaleViewOf),
    status: subresource(replicationControllerStatusStrategy),
  },
  descriptions: {
    "core/v1.ReplicationController": { "": "Keeps a number of equal pods running. Deployments are its successor." },
    "core/v1.ReplicationControllerSpec": {
      "": "The wanted pods.",
      replicas: "Wanted number of pods.",
      minReadySeconds: "Seconds that a new pod has to be ready before it counts as available.",
      selector: "Labels of the pods that belong to it.",
      template: "The pods to make.",
    },
    "core/v1.ReplicationControllerStatus": {
      "": "The observed pods.",
      replicas: "Number of pods.",
      fullyLabeledReplicas: "Pods with all labels of the template.",
      readyReplicas: "Pods that are ready.",
      availableReplicas: "Pods that have been ready long enough.",
    },
  },
});

function replicationControllerCells(controller: ReplicationController): Cells {
  return { ...replicaCells(controller), Selector: pairsText(controller.spec?.selector) };
}

/** Selects the pods by the labels of the template, and labels the controller with them. */
function defaultReplicationController(controller: ReplicationController): void {
  const { spec } = controller;
  if (spec === undefined) return;
  spec.replicas ??= 1;
  const labels = templateLabels(spec.template);
  if (labels !== undefined && Object.keys(spec.selector ?? {}).length === 0) spec.selector = cloneJson(labels);
  labelAsTemplate(controller, spec.template);
}
