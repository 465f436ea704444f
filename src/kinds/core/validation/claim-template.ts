import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject } from "../../../api/json.ts";
import { isPresent, objectOf } from "../../../api/json-reading.ts";
import { validateAnnotations, validateLabels } from "../../../api/validation/labels.ts";
import { validateClaimSpec } from "./persistent-volume-claim.ts";

/** Claims that a pod's ephemeral volumes become take labels and annotations from their template, and nothing else. */
export function validateClaimTemplate(template: JsonObject, field: string): FieldError[] {
  return [
    ...validateTemplateMeta(objectOf(template["metadata"]), `${field}.metadata`),
    ...validateClaimSpec(objectOf(template["spec"]), `${field}.spec`),
  ];
}

function validateTemplateMeta({ labels, annotations, ...others }: JsonObject, field: string): FieldError[] {
  return [
    ...validateAnnotations(objectOf(annotations) as Record<string, string>, `${field}.annotations`),
    ...validateLabels(objectOf(labels) as Record<string, string>, `${field}.labels`),
    ...Object.keys(others)
      .filter((name) => isPresent(others[name]))
      // Upstream makes the path from the name of its own field.
      .map((name) => fieldError.forbidden(`${field}.${name === "uid" ? "uID" : name}`, "cannot be set")),
  ];
}
