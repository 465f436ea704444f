import type { ReplicationController } from "../../api/types/core-v1.ts";
import type { Strategy } from "../../registry/strategy.ts";
import {
  validateReplicationController,
  validateReplicationControllerStatus,
} from "./validation/replication-controller.ts";
import { templateWarnings, workloadWarnings } from "./workload-warnings.ts";
import { specStrategy, statusRules } from "../spec-strategy.ts";
import { builtInKind, stored, subresource, view } from "../../registry/kind.ts";
import { scaleViewOf } from "../autoscaling/scale.ts";
import { pairsText } from "../../api/codec/table/cell-text.ts";
import { objectOf } from "../../api/json-reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";
import { replicaCells } from "../apps/replica-cells.ts";
import { countReaderOf } from "../../api/scheme/selectable-fields.ts";
import { defaultReplicationController } from "./defaults/replication-controller.ts";

const replicationControllerStrategy: Strategy<ReplicationController> = {
  ...specStrategy,
  validatesPrefix: false,
  metaRules: "update",
  orphansByDefault: true,
  validate: validateReplicationController,
  // Upstream looks at the old template here, once the new one is there.
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

function replicationControllerCells(controller: JsonObject): Cells {
  return { ...replicaCells(controller), Selector: pairsText(objectOf(controller["spec"])["selector"]) };
}
