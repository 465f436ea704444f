import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { ReplicationController } from "../../../api/types/core-v1.ts";
import { validateNotNegative } from "../../../api/validation/field-rules.ts";
import { validateCounts, validateParts } from "../../apps/validation/replica-status.ts";
import { validateMapSelectsTemplate } from "../../apps/validation/workload-selector.ts";
import { validateLastingTemplate, validatePodTemplate } from "./pod-template.ts";

export function validateReplicationController({ spec = {} }: ReplicationController): FieldError[] {
  const { selector = {}, template, replicas } = spec;
  return [
    ...validateNotNegative(spec.minReadySeconds, "spec.minReadySeconds"),
    ...(Object.keys(selector).length === 0 ? [fieldError.required("spec.selector")] : []),
    ...(replicas === undefined ? [fieldError.required("spec.replicas")] : []),
    ...validateNotNegative(replicas, "spec.replicas"),
    ...(template === undefined
      ? [fieldError.required("spec.template")]
      : [
          ...validateMapSelectsTemplate(selector, template, "spec.template"),
          ...validatePodTemplate(template, "spec.template"),
          ...validateLastingTemplate(template, "spec.template", "ReplicationController"),
        ]),
  ];
}

export function validateReplicationControllerStatus({ status }: ReplicationController): FieldError[] {
  if (status === undefined) return [];
  const parts = ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"] as const;
  return [
    ...validateCounts(status, ["replicas", ...parts, "observedGeneration"], "status"),
    ...validateParts(status, parts, "status"),
  ];
}
