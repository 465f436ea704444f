import type { ReplicaSet } from "../../api/types/apps-v1.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateReplicaSet, validateReplicaSetStatus, validateSelectorUpdate } from "./validation/replica-set.ts";
import { workloadWarnings } from "../core/workload-warnings.ts";
import { specStrategy, statusRules } from "../spec-strategy.ts";
import { builtInKind, stored, subresource, view } from "../../registry/kind.ts";
import { scaleViewOf } from "../autoscaling/scale.ts";
import { objectOf } from "../../api/json-reading.ts";
import { selectorText } from "../../api/codec/table/selector-text.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";
import { replicaCells } from "./replica-cells.ts";
import { defaultReplicaSet } from "./defaults/deployment.ts";

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
});

function replicaSetCells(replicaSet: JsonObject): Cells {
  return { ...replicaCells(replicaSet), Selector: selectorText(objectOf(replicaSet["spec"])["selector"]) };
}
