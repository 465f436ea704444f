import type { FieldError } from "../../../api/field-error.ts";
import type { KubeObject, ObjectMeta } from "../../../api/object-meta.ts";
import { validateDeviceClaim } from "./device-claim.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { validateAnnotations, validateLabels } from "../../../api/validation/labels.ts";

/** A stored claim is not judged again: nothing of it can change. */
export function validateResourceClaim(claim: KubeObject, old?: KubeObject): FieldError[] {
  if (old !== undefined) return [];
  return validateDeviceClaim(fieldsOf(fieldsOf(claim["spec"])["devices"]), "spec.devices");
}

/** Of claims and of their templates. */
export function validateResourceClaimUpdate(claim: KubeObject, old: KubeObject): FieldError[] {
  return validateImmutable(fieldsOf(claim["spec"]), fieldsOf(old["spec"]), "spec");
}

export function validateResourceClaimTemplate(template: KubeObject, old?: KubeObject): FieldError[] {
  if (old !== undefined) return [];
  const { metadata, spec } = fieldsOf(template["spec"]);
  const { labels, annotations } = fieldsOf(metadata) as unknown as ObjectMeta;
  return [
    ...validateAnnotations(annotations, "spec.metadata.annotations"),
    ...validateLabels(labels, "spec.metadata.labels"),
    ...validateDeviceClaim(fieldsOf(fieldsOf(spec)["devices"]), "spec.spec.devices"),
  ];
}
