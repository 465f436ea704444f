import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { labelSelectorOf } from "../../../api/label-selector-object.ts";
import type { DeploymentSpec, ReplicaSet, ReplicaSetSpec } from "../../../api/types/apps-v1.ts";
import type { LabelSelector } from "../../../api/types/meta-v1.ts";
import { validateNotNegative } from "../../../api/validation/field-rules.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";
import { shownSelector } from "../../../api/validation/label-selector.ts";
import { validateLastingTemplate, validatePodTemplate } from "../../core/validation/pod-template.ts";
import { validateCounts, validateParts } from "./replica-status.ts";
import { validateSelectsTemplate, validateWorkloadSelector } from "./workload-selector.ts";

interface Selecting {
  readonly spec?: { readonly selector?: LabelSelector | null };
}

export function validateReplicaSet({ spec }: ReplicaSet): FieldError[] {
  if (spec === undefined) return [];
  return [
    ...validateNotNegative(spec.replicas, "spec.replicas"),
    ...validateNotNegative(spec.minReadySeconds, "spec.minReadySeconds"),
    ...validateReplicaTemplate(spec, "spec"),
  ];
}

export function validateReplicaSetStatus({ status }: ReplicaSet): FieldError[] {
  if (status === undefined) return [];
  const parts = ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"] as const;
  const counts = ["replicas", ...parts, "observedGeneration", "terminatingReplicas"] as const;
  return [...validateCounts(status, counts, "status"), ...validateParts(status, parts, "status")];
}

/** Validates which pods a ReplicaSet or Deployment has, and their template. Upstream calls both deployments. */
export function validateReplicaTemplate(
  { selector, template }: DeploymentSpec | ReplicaSetSpec,
  path: string,
): FieldError[] {
  const errors = validateWorkloadSelector(selector, "deployment", `${path}.selector`);
  if (labelSelectorOf(selector ?? undefined) === undefined) {
    return [...errors, fieldError.invalid(`${path}.selector`, shownSelector(selector), "invalid label selector")];
  }
  return [
    ...errors,
    ...validateSelectsTemplate(selector, template, `${path}.template`),
    ...validatePodTemplate(template, `${path}.template`),
    ...validateLastingTemplate(template, `${path}.template`, "ReplicaSet"),
  ];
}

/** Rejects a change of the selector: the existing pods would lose their owner. */
export function validateSelectorUpdate(fresh: Selecting, old: Selecting): FieldError[] {
  return validateImmutable(shownSelector(fresh.spec?.selector), shownSelector(old.spec?.selector), "spec.selector");
}
