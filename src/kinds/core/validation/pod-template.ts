import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject, JsonValue } from "../../../api/json.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { validateAnnotations, validateLabels } from "../../../api/validation/labels.ts";
import { validatePodAnnotations, validateProfilesAgree } from "./pod-annotations.ts";
import { isPresent, objectsOf, textOf } from "../../../api/validation/fields.ts";
import { validatePodSpec } from "./pod-spec.ts";

/** `{metadata, spec}` that pods are made from. The paths of labels and annotations are upstream's: without `metadata`. */
export function validatePodTemplate(value: JsonValue | undefined, field: string): FieldError[] {
  const template = fieldsOf(value);
  const spec = fieldsOf(template["spec"]);
  return [
    ...validateTemplateMeta(template, field),
    ...validatePodSpec(spec, { isPod: false, podName: "" }, `${field}.spec`),
    ...validateProfilesAgree(annotationsOf(template), spec, `${field}.spec`),
    ...(objectsOf(spec["ephemeralContainers"]).length > 0
      ? [fieldError.forbidden(`${field}.spec.ephemeralContainers`, "ephemeral containers not allowed in pod template")]
      : []),
  ];
}

/** Labels and annotations of a template. */
export function validateTemplateMeta(template: JsonObject, field: string): FieldError[] {
  const annotations = annotationsOf(template);
  return [
    ...validateLabels(labelsOf(template), `${field}.labels`),
    ...validateAnnotations(annotations, `${field}.annotations`),
    ...validatePodAnnotations(annotations, fieldsOf(template["spec"]), `${field}.annotations`),
  ];
}

/** Pods of a controller that keeps a number of them running restart, and never end by themselves. */
export function validateLastingTemplate(value: JsonValue | undefined, field: string, kind: string): FieldError[] {
  const spec = fieldsOf(fieldsOf(value)["spec"]);
  const policy = textOf(spec["restartPolicy"]);
  const errors: FieldError[] = [];
  if (policy !== "Always") errors.push(fieldError.notSupported(`${field}.spec.restartPolicy`, policy, ["Always"]));
  if (isPresent(spec["activeDeadlineSeconds"])) {
    const text = `activeDeadlineSeconds in ${kind} is not Supported`;
    errors.push(fieldError.forbidden(`${field}.spec.activeDeadlineSeconds`, text));
  }
  return errors;
}

export function labelsOf(template: JsonObject): Record<string, string> {
  return fieldsOf(fieldsOf(template["metadata"])["labels"]) as Record<string, string>;
}

function annotationsOf(template: JsonObject): Record<string, string> {
  return fieldsOf(fieldsOf(template["metadata"])["annotations"]) as Record<string, string>;
}
