import { statefulSetDescriptions } from "./stateful-set-descriptions.ts";
import type { StatefulSet } from "../../api/types/apps-v1.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { dnsLabelProblems } from "../../api/validation/names.ts";
import {
  validateStatefulSet,
  validateStatefulSetStatusUpdate,
  validateStatefulSetUpdate,
} from "./validation/stateful-set.ts";
import { claimSpecWarnings } from "../core/claim-warnings.ts";
import { templateWarnings } from "../core/workload-warnings.ts";
import { specStrategy, statusRules } from "../spec-strategy.ts";
import { builtInKind, stored, subresource, view } from "../../registry/kind.ts";
import { scaleViewOf } from "../autoscaling/scale.ts";
import { numberOf, objectOf } from "../../api/json-reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";
import { templateCells } from "./template-cells.ts";
import { defaultStatefulSet } from "./defaults/stateful-set.ts";

const statefulSetStrategy: Strategy<StatefulSet> = {
  ...specStrategy,
  metaRules: "update",
  validateName: dnsLabelProblems,
  validate: (set, old) => validateStatefulSet(set, old),
  validateUpdate: validateStatefulSetUpdate,
  warnings: statefulSetWarnings,
};

const statefulSetStatusStrategy = statusRules(statefulSetStrategy, validateStatefulSetStatusUpdate);

export const statefulSet = builtInKind("statefulsets.apps", {
  endpoint: stored(statefulSetStrategy),
  table: { cells: statefulSetCells },
  defaults: {
    "apps/v1.StatefulSet": defaultStatefulSet,
  },
  subresources: {
    scale: view(scaleViewOf),
    status: subresource(statefulSetStatusStrategy),
  },
  descriptions: statefulSetDescriptions,
});

function statefulSetWarnings(set: StatefulSet, old?: StatefulSet): string[] {
  const { volumeClaimTemplates = [], revisionHistoryLimit = 0 } = set.spec ?? {};
  const warnings = [
    ...templateWarnings(set, old),
    ...volumeClaimTemplates.flatMap(({ spec = {} }, at) => {
      const field = `spec.volumeClaimTemplates[${at}]`;
      // The two paths are upstream's.
      return claimSpecWarnings(spec, old === undefined ? field : `${field}.Spec`);
    }),
  ];
  if (revisionHistoryLimit >= 0) return warnings;
  const text = "a negative value retains all historical revisions; a value >= 0 is recommended";
  return [...warnings, `spec.revisionHistoryLimit: ${text}`];
}

function statefulSetCells(statefulSet: JsonObject): Cells {
  const spec = objectOf(statefulSet["spec"]);
  const ready = numberOf(objectOf(statefulSet["status"])["readyReplicas"]);
  return { Ready: `${ready}/${numberOf(spec["replicas"])}`, ...templateCells(spec) };
}
