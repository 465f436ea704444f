import { equalJson, type JsonObject } from "../../api/json.ts";
import type { DaemonSet } from "../../api/types/apps-v1.ts";
import type { PodTemplateSpec } from "../../api/types/core-v1.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateDaemonSet, validateDaemonSetStatusUpdate } from "./validation/daemon-set.ts";
import { validateSelectorUpdate } from "./validation/replica-set.ts";
import { podWarnings } from "../core/pod-warnings.ts";
import { specStrategy, statusRules } from "../spec-strategy.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import { pairsText } from "../../api/codec/table/cell-text.ts";
import { numberOf, objectOf } from "../../api/json-reading.ts";
import { selectorText } from "../../api/codec/table/selector-text.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import { templateCells } from "./template-cells.ts";
import { defaultDaemonSet, templateGenerationAnnotation } from "./defaults/daemon-set.ts";

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
    // The annotation stands for a field of the spec.
    setTemplateGeneration(object, templateGenerationOf(old));
  },
};

export const daemonSet = builtInKind("daemonsets.apps", {
  endpoint: stored(daemonSetStrategy),
  table: { cells: daemonSetCells },
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

function daemonSetCells(daemonSet: JsonObject): Cells {
  const status = objectOf(daemonSet["status"]);
  const spec = objectOf(daemonSet["spec"]);
  return {
    Desired: numberOf(status["desiredNumberScheduled"]),
    Current: numberOf(status["currentNumberScheduled"]),
    Ready: numberOf(status["numberReady"]),
    "Up-to-date": numberOf(status["updatedNumberScheduled"]),
    Available: numberOf(status["numberAvailable"]),
    "Node Selector": pairsText(objectOf(objectOf(spec["template"])["spec"])["nodeSelector"]),
    ...templateCells(spec),
    Selector: selectorText(spec["selector"]),
  };
}
