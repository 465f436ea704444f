import { pairsText } from "../../api/codec/table/cell-text.ts";
import { selectorText } from "../../api/codec/table/selector-text.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import { emptyMap, equalJson } from "../../api/json.ts";
import type { DaemonSet } from "../../api/types/apps-v1.ts";
import type { PodTemplateSpec } from "../../api/types/core-v1.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { podWarnings } from "../core/pod-warnings.ts";
import { specStrategy, statusRules } from "../spec-strategy.ts";
import { validateDaemonSet, validateDaemonSetStatusUpdate } from "./validation/daemon-set.ts";
import { validateSelectorUpdate } from "./validation/replica-set.ts";
import { templateCells } from "./workload-cells.ts";

/** Counts changes of the template. Replaces a field of the first API versions, for clients of those. */
const templateGenerationAnnotation = "deprecated.daemonset.template.generation";

const daemonSetStrategy: Strategy<DaemonSet> = {
  ...specStrategy,
  metaRules: "update",
  prepareForCreate(object) {
    setTemplateGeneration(object, Math.max(1, templateGenerationOf(object)));
  },
  prepareForUpdate(object, old) {
    const changed = !equalJson(templateOf(object), templateOf(old));
    setTemplateGeneration(object, templateGenerationOf(old) + (changed ? 1 : 0));
  },
  // Upstream compares the selectors before it validates the rest.
  validate: (set, old) => [...(old === undefined ? [] : validateSelectorUpdate(set, old)), ...validateDaemonSet(set)],
  warnings: (set, old) =>
    old !== undefined && templateGenerationOf(set) === templateGenerationOf(old)
      ? []
      : podWarnings(set.spec?.template ?? {}, "spec.template"),
};

const writeStatus = statusRules(daemonSetStrategy, validateDaemonSetStatusUpdate);

const daemonSetStatusStrategy: Strategy<DaemonSet> = {
  ...writeStatus,
  prepareForUpdate(object, old, nowMs) {
    writeStatus.prepareForUpdate(object, old, nowMs);
    // The annotation represents a field of the spec.
    setTemplateGeneration(object, templateGenerationOf(old));
  },
};

export const daemonSet = builtInKind("daemonsets.apps", {
  endpoint: stored(daemonSetStrategy),
  table: { cells: daemonSetCells },
  specAnnotation: templateGenerationAnnotation,
  defaults: {
    "apps/v1.DaemonSet": defaultDaemonSet,
  },
  subresources: {
    status: subresource(daemonSetStatusStrategy),
  },
  descriptions: {
    "apps/v1.DaemonSet": { "": "Runs one pod on every node that fits." },
    "apps/v1.DaemonSetSpec": {
      "": "The wanted pods.",
      selector: "Selects the pods of the set. Must match the labels of the template.",
      template: "The pods to make.",
      updateStrategy: "Strategy for replacing pods when the template changes.",
      minReadySeconds: "Seconds that a new pod has to be ready before it counts as available.",
      revisionHistoryLimit: "Number of old revisions to keep for a rollback.",
    },
    "apps/v1.DaemonSetStatus": {
      "": "The observed pods, counted by node.",
      currentNumberScheduled: "Nodes that run the pod and should.",
      numberMisscheduled: "Nodes that run the pod and should not.",
      desiredNumberScheduled: "Nodes that should run the pod.",
      numberReady: "Nodes whose pod is ready.",
      updatedNumberScheduled: "Nodes whose pod is of the newest template.",
      numberAvailable: "Nodes whose pod has been ready long enough.",
      numberUnavailable: "Nodes that should have an available pod and have none.",
      collisionCount: "Collisions of names of revisions.",
    },
  },
});

function templateOf({ spec }: DaemonSet): PodTemplateSpec | undefined {
  return spec?.template;
}

function templateGenerationOf({ metadata }: DaemonSet): number {
  const text = metadata.annotations?.[templateGenerationAnnotation] ?? "";
  return /^[0-9]{1,15}$/.test(text) ? Number(text) : 0;
}

function setTemplateGeneration({ metadata }: DaemonSet, generation: number): void {
  if (generation === 0) return;
  metadata.annotations = { ...metadata.annotations, [templateGenerationAnnotation]: String(generation) };
}

function daemonSetCells({ spec, status }: DaemonSet): Cells {
  return {
    Desired: status?.desiredNumberScheduled ?? 0,
    Current: status?.currentNumberScheduled ?? 0,
    Ready: status?.numberReady ?? 0,
    "Up-to-date": status?.updatedNumberScheduled ?? 0,
    Available: status?.numberAvailable ?? 0,
    "Node Selector": pairsText(spec?.template.spec?.nodeSelector),
    ...templateCells(spec?.template),
    Selector: selectorText(spec?.selector ?? undefined),
  };
}

function defaultDaemonSet({ metadata, spec }: DaemonSet): void {
  const annotations = metadata.annotations ?? emptyMap();
  annotations[templateGenerationAnnotation] ??= "0";
  metadata.annotations = annotations;
  if (spec === undefined) return;
  spec.revisionHistoryLimit ??= 10;
  spec.updateStrategy ??= {};
  spec.updateStrategy.type ||= "RollingUpdate";
  if (spec.updateStrategy.type === "RollingUpdate") {
    spec.updateStrategy.rollingUpdate = { maxUnavailable: 1, maxSurge: 0, ...spec.updateStrategy.rollingUpdate };
  }
}
