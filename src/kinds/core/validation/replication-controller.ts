import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { isPresent, validateNotNegative } from "../../../api/validation/fields.ts";
import { validateLastingTemplate, validatePodTemplate } from "./pod-template.ts";
import { validateCounts, validateParts } from "../../apps/validation/replica-status.ts";
import { validateMapSelectsTemplate } from "../../apps/validation/workload-selector.ts";

export function validateReplicationController(controller: KubeObject): FieldError[] {
  const spec = fieldsOf(controller["spec"]);
  const selector = fieldsOf(spec["selector"]);
  const { template } = spec;
  return [
    ...validateNotNegative(spec["minReadySeconds"], "spec.minReadySeconds"),
    ...(Object.keys(selector).length === 0 ? [fieldError.required("spec.selector")] : []),
    ...(isPresent(spec["replicas"]) ? [] : [fieldError.required("spec.replicas")]),
    ...validateNotNegative(spec["replicas"], "spec.replicas"),
    ...(isPresent(template)
      ? [
          ...validateMapSelectsTemplate(selector, template, "spec.template"),
          ...validatePodTemplate(template, "spec.template"),
          ...validateLastingTemplate(template, "spec.template", "ReplicationController"),
        ]
      : [fieldError.required("spec.template")]),
  ];
}

export function validateReplicationControllerStatus(controller: KubeObject): FieldError[] {
  const status = fieldsOf(controller["status"]);
  const parts = ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"];
  return [
    ...validateCounts(status, ["replicas", ...parts, "observedGeneration"], "status"),
    ...validateParts(status, parts, "status"),
  ];
}
