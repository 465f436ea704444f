import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { isPresent } from "../../../api/json-reading.ts";
import type { PersistentVolumeClaimTemplate } from "../../../api/types/core-v1.ts";
import type { ObjectMeta } from "../../../api/types/meta-v1.ts";
import { validateAnnotations, validateLabels } from "../../../api/validation/labels.ts";
import { validateClaimSpec } from "./persistent-volume-claim.ts";

/** Validates the template of an ephemeral volume's claim, which takes labels and annotations from it and nothing else. */
export function validateClaimTemplate(
  { metadata = {}, spec }: PersistentVolumeClaimTemplate,
  field: string,
): FieldError[] {
  return [...validateTemplateMeta(metadata, `${field}.metadata`), ...validateClaimSpec(spec, `${field}.spec`)];
}

function validateTemplateMeta({ labels, annotations, ...others }: ObjectMeta, field: string): FieldError[] {
  return [
    ...validateAnnotations(annotations, `${field}.annotations`),
    ...validateLabels(labels, `${field}.labels`),
    ...Object.entries(others)
      .filter(([, value]) => isPresent(value))
      // Upstream makes the path from the name of its own field.
      .map(([name]) => fieldError.forbidden(`${field}.${name === "uid" ? "uID" : name}`, "cannot be set")),
  ];
}
