import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { PodTemplateSpec } from "../../../api/types/core-v1.ts";
import { validateAnnotations, validateLabels } from "../../../api/validation/labels.ts";
import { validatePodAnnotations, validateProfilesAgree } from "./pod-annotations.ts";
import { validatePodSpec } from "./pod-spec.ts";

/** Validates a template for pods. The paths of labels and annotations are upstream's: without `metadata`. */
export function validatePodTemplate(template: PodTemplateSpec | undefined, field: string): FieldError[] {
  const { metadata: { annotations = {} } = {}, spec = { containers: null } } = template ?? {};
  return [
    ...validateTemplateMeta(template, field),
    ...validatePodSpec(spec, { isPod: false, podName: "" }, `${field}.spec`),
    ...validateProfilesAgree(annotations, spec, `${field}.spec`),
    ...((spec.ephemeralContainers ?? []).length > 0
      ? [fieldError.forbidden(`${field}.spec.ephemeralContainers`, "ephemeral containers not allowed in pod template")]
      : []),
  ];
}

/** Validates the labels and annotations of a template. */
export function validateTemplateMeta(template: PodTemplateSpec | undefined, field: string): FieldError[] {
  const { metadata: { labels, annotations } = {}, spec = { containers: null } } = template ?? {};
  return [
    ...validateLabels(labels, `${field}.labels`),
    ...validateAnnotations(annotations, `${field}.annotations`),
    ...validatePodAnnotations(annotations ?? {}, spec, `${field}.annotations`),
  ];
}

/** Rejects pods that end by themselves in the template of a controller that keeps them running. */
export function validateLastingTemplate(
  template: PodTemplateSpec | undefined,
  field: string,
  kind: string,
): FieldError[] {
  const { restartPolicy = "", activeDeadlineSeconds } = template?.spec ?? {};
  const errors: FieldError[] = [];
  if (restartPolicy !== "Always") {
    errors.push(fieldError.notSupported(`${field}.spec.restartPolicy`, restartPolicy, ["Always"]));
  }
  if (activeDeadlineSeconds !== undefined) {
    const text = `activeDeadlineSeconds in ${kind} is not Supported`;
    errors.push(fieldError.forbidden(`${field}.spec.activeDeadlineSeconds`, text));
  }
  return errors;
}
