import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { StatefulSet, StatefulSetUpdateStrategy } from "../../api/types/apps-v1.ts";
import { dnsLabelProblems } from "../../api/validation/names.ts";
import { builtInKind, stored, subresource, view } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { scaleViewOf } from "../autoscaling/scale.ts";
import { claimSpecWarnings } from "../core/claim-warnings.ts";
import { templateWarnings } from "../core/workload-warnings.ts";
import { specStrategy, statusRules } from "../spec-strategy.ts";
import { statefulSetDescriptions } from "./stateful-set-descriptions.ts";
import {
  validateStatefulSet,
  validateStatefulSetStatusUpdate,
  validateStatefulSetUpdate,
} from "./validation/stateful-set.ts";
import { templateCells } from "./workload-cells.ts";

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

function statefulSetCells({ spec, status }: StatefulSet): Cells {
  return { Ready: `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`, ...templateCells(spec?.template) };
}

function defaultStatefulSet({ spec }: StatefulSet): void {
  if (spec === undefined) return;
  spec.podManagementPolicy ||= "OrderedReady";
  spec.replicas ??= 1;
  spec.revisionHistoryLimit ??= 10;
  spec.updateStrategy ??= {};
  defaultUpdateStrategy(spec.updateStrategy);
  spec.persistentVolumeClaimRetentionPolicy ??= {};
  spec.persistentVolumeClaimRetentionPolicy.whenDeleted ||= "Retain";
  spec.persistentVolumeClaimRetentionPolicy.whenScaled ||= "Retain";
  // Templates of claims are whole objects, with a kind and a version.
  for (const claim of spec.volumeClaimTemplates ?? []) {
    claim.apiVersion = "v1";
    claim.kind = "PersistentVolumeClaim";
  }
}

function defaultUpdateStrategy(strategy: StatefulSetUpdateStrategy): void {
  if (!strategy.type) {
    strategy.type = "RollingUpdate";
    strategy.rollingUpdate ??= {};
  }
  if (strategy.type === "RollingUpdate" && strategy.rollingUpdate !== undefined) strategy.rollingUpdate.partition ??= 0;
}
