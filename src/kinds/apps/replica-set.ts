import { selectorText } from "../../api/codec/table/selector-text.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { ReplicaSet } from "../../api/types/apps-v1.ts";
import { builtInKind, stored, subresource, view } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { scaleViewOf } from "../autoscaling/scale.ts";
import { workloadWarnings } from "../core/workload-warnings.ts";
import { specStrategy, statusRules } from "../spec-strategy.ts";
import { validateReplicaSet, validateReplicaSetStatus, validateSelectorUpdate } from "./validation/replica-set.ts";
import { replicaCells } from "./workload-cells.ts";

const replicaSetStrategy: Strategy<ReplicaSet> = {
  ...specStrategy,
  metaRules: "update",
  validate: validateReplicaSet,
  validateUpdate: validateSelectorUpdate,
  warnings: workloadWarnings,
};

const replicaSetStatusStrategy = statusRules(replicaSetStrategy, validateReplicaSetStatus);

export const replicaSet = builtInKind("replicasets.apps", {
  endpoint: stored(replicaSetStrategy),
  table: { cells: replicaSetCells },
  defaults: {
    "apps/v1.ReplicaSet": defaultReplicaSet,
  },
  subresources: {
    scale: view(scaleViewOf),
    status: subresource(replicaSetStatusStrategy),
  },
  descriptions: {
    "apps/v1.ReplicaSet": { "": "Keeps a number of equal pods running. Usually made by a Deployment." },
    "apps/v1.ReplicaSetSpec": {
      "": "The wanted pods.",
      replicas: "Wanted number of pods; 1 by default.",
      minReadySeconds: "Seconds that a new pod has to be ready before it counts as available.",
      selector: "Selects the pods of the set. Must match the labels of the template.",
      template: "The pods to make.",
    },
    "apps/v1.ReplicaSetStatus": {
      "": "The observed pods.",
      replicas: "Number of pods.",
      fullyLabeledReplicas: "Pods with all labels of the template.",
      readyReplicas: "Pods that are ready.",
      availableReplicas: "Pods that have been ready long enough.",
      terminatingReplicas: "Pods that are going.",
    },
  },
});

function replicaSetCells(replicaSet: ReplicaSet): Cells {
  return { ...replicaCells(replicaSet), Selector: selectorText(replicaSet.spec?.selector ?? undefined) };
}

function defaultReplicaSet({ spec }: ReplicaSet): void {
  if (spec !== undefined) spec.replicas ??= 1;
}
