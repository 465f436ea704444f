import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { isGivenEmpty } from "../../../api/schema/given-empty.ts";
import type * as resourceV1 from "../../../api/types/resource-v1.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";
import { validateAnnotations, validateLabels } from "../../../api/validation/labels.ts";
import { validateDeviceClaim } from "./device-claim.ts";

/** Fields of metadata that a template may not have, with the ends of their paths in upstream's errors. */
const unsupportedMetadata: ReadonlyMap<string, string> = new Map([
  ["name", "name"],
  ["generateName", "generateName"],
  ["namespace", "namespace"],
  ["selfLink", "selfLink"],
  ["uid", "uID"],
  ["resourceVersion", "resourceVersion"],
  ["generation", "generation"],
  ["creationTimestamp", "creationTimestamp"],
  ["deletionTimestamp", "deletionTimestamp"],
  ["deletionGracePeriodSeconds", "deletionGracePeriodSeconds"],
  ["ownerReferences", "ownerReferences"],
  ["finalizers", "finalizers"],
  ["managedFields", "managedFields"],
]);

/** Validates a new claim; the spec of a stored one never changes. */
export function* validateResourceClaim(
  { spec }: resourceV1.ResourceClaim,
  old?: resourceV1.ResourceClaim,
): Generator<void, FieldError[]> {
  return old !== undefined ? [] : yield* validateDeviceClaim(spec.devices ?? {}, "spec.devices");
}

export function validateResourceClaimUpdate(
  claim: resourceV1.ResourceClaim,
  old: resourceV1.ResourceClaim,
): FieldError[] {
  return validateImmutable(claim.spec, old.spec, "spec", "resource/v1.ResourceClaimSpec");
}

export function* validateResourceClaimTemplate({
  spec,
}: resourceV1.ResourceClaimTemplate): Generator<void, FieldError[]> {
  const { labels, annotations } = (spec.metadata ?? {}) as KubeObject["metadata"];
  const metadata = (spec.metadata ?? {}) as Readonly<Record<string, unknown>>;
  return [
    ...validateAnnotations(annotations, "spec.metadata.annotations"),
    ...validateLabels(labels, "spec.metadata.labels"),
    ...[...unsupportedMetadata]
      .filter(([name]) => metadata[name] !== undefined || isGivenEmpty(spec.metadata, name))
      .map(([, path]) => fieldError.forbidden(`spec.metadata.${path}`, "cannot be set")),
    ...(yield* validateDeviceClaim(spec.spec.devices ?? {}, "spec.spec.devices")),
  ];
}

export function validateResourceClaimTemplateUpdate(
  template: resourceV1.ResourceClaimTemplate,
  old: resourceV1.ResourceClaimTemplate,
): FieldError[] {
  return validateImmutable(template.spec, old.spec, "spec", "resource/v1.ResourceClaimTemplateSpec");
}
