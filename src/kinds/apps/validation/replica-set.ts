import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { labelSelectorOf } from "../../../api/label-selector-object.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { validateNotNegative } from "../../../api/validation/fields.ts";
import { validateLastingTemplate, validatePodTemplate } from "../../core/validation/pod-template.ts";
import { validateCounts, validateParts } from "./replica-status.ts";
import { validateSelectsTemplate, validateWorkloadSelector } from "./workload-selector.ts";

export function validateReplicaSet(set: KubeObject): FieldError[] {
  const spec = fieldsOf(set["spec"]);
  return [
    ...validateNotNegative(spec["replicas"], "spec.replicas"),
    ...validateNotNegative(spec["minReadySeconds"], "spec.minReadySeconds"),
    ...validateReplicaTemplate(spec, "spec"),
  ];
}

export function validateReplicaSetStatus(set: KubeObject): FieldError[] {
  const status = fieldsOf(set["status"]);
  const parts = ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"];
  const counts = ["replicas", ...parts, "observedGeneration", "terminatingReplicas"];
  return [...validateCounts(status, counts, "status"), ...validateParts(status, parts, "status")];
}

/** Which pods a ReplicaSet or Deployment has, and what it makes them from. Upstream calls both deployments. */
export function validateReplicaTemplate({ selector, template }: JsonObject, path: string): FieldError[] {
  const errors = validateWorkloadSelector(selector, "deployment", `${path}.selector`);
  if (labelSelectorOf(selector) === undefined) {
    return [...errors, fieldError.invalid(`${path}.selector`, selector, "invalid label selector")];
  }
  return [
    ...errors,
    ...validateSelectsTemplate(selector, template, `${path}.template`),
    ...validatePodTemplate(template, `${path}.template`),
    ...validateLastingTemplate(template, `${path}.template`, "ReplicaSet"),
  ];
}

/** What a workload selects is fixed: its pods would be nobody's otherwise. */
export function validateSelectorUpdate(fresh: KubeObject, old: KubeObject): FieldError[] {
  return validateImmutable(fieldsOf(fresh["spec"])["selector"], fieldsOf(old["spec"])["selector"], "spec.selector");
}
