import { equalJson, type JsonValue } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateDaemonSet, validateDaemonSetStatusUpdate } from "./validation/daemon-set.ts";
import { fieldsOf } from "../../api/validation/key-values.ts";
import { validateSelectorUpdate } from "./validation/replica-set.ts";
import { templateWarnings } from "../core/workload-warnings.ts";
import { specStrategy, statusRules } from "../spec-strategy.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";

/** Counts the templates that there have been: a field of the first versions, which lives on for their clients. */
const templateGenerationAnnotation = "deprecated.daemonset.template.generation";

const daemonSetStrategy: Strategy = {
  ...specStrategy,
  prepareForCreate(object) {
    setTemplateGeneration(object, Math.max(1, templateGenerationOf(object)));
  },
  prepareForUpdate(object, old) {
    const changed = !equalJson(templateOf(object), templateOf(old));
    setTemplateGeneration(object, templateGenerationOf(old) + (changed ? 1 : 0));
  },
  validate: validateDaemonSet,
  validateUpdate: validateSelectorUpdate,
  warnings: templateWarnings,
};

const daemonSetStatusStrategy = statusRules(daemonSetStrategy, validateDaemonSetStatusUpdate);

export const daemonSet = builtInKind("daemonsets.apps", {
  endpoint: stored(daemonSetStrategy),
  subresources: {
    status: subresource(daemonSetStatusStrategy),
  },
});

function templateOf(object: KubeObject): JsonValue | undefined {
  return fieldsOf(object["spec"])["template"];
}

function templateGenerationOf({ metadata }: KubeObject): number {
  const text = metadata.annotations?.[templateGenerationAnnotation] ?? "";
  return /^[0-9]{1,15}$/.test(text) ? Number(text) : 0;
}

function setTemplateGeneration({ metadata }: KubeObject, generation: number): void {
  if (generation === 0) return;
  metadata.annotations = { ...metadata.annotations, [templateGenerationAnnotation]: String(generation) };
}
