import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { Pod, PodSpec } from "../../../api/types/core-v1.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";
import { validateImageOfPod } from "./container.ts";
import { validatePodAnnotations, validateProfilesAgree } from "./pod-annotations.ts";
import { validatePodSpec } from "./pod-spec.ts";

/** Validates the rules that always hold for a pod. @param old replaced pod; absent at creation */
export function validatePod({ metadata, spec = { containers: null } }: Pod, old?: Pod): FieldError[] {
  const { annotations = {}, name = "" } = metadata;
  return [
    ...validatePodAnnotations(annotations, spec, "metadata.annotations"),
    ...validatePodSpec(spec, { isPod: true, podName: name }, "spec"),
    ...validateTokenVolumes(spec),
    ...(["containers", "initContainers"] as const).flatMap((list) =>
      validateEach(spec[list] ?? [], (container, at) => validateImageOfPod(container, `spec.${list}[${at}]`)),
    ),
    ...(old === undefined ? validateNewPod(spec, annotations) : []),
  ];
}

/** Rejects values that a new pod cannot have. */
function validateNewPod(spec: PodSpec, annotations: Readonly<Record<string, string>>): FieldError[] {
  const errors: FieldError[] = [];
  if ((spec.ephemeralContainers ?? []).length > 0) {
    errors.push(fieldError.forbidden("spec.ephemeralContainers", "cannot be set on create"));
  }
  if ((spec.nodeName ?? "") !== "" && (spec.schedulingGates ?? []).length > 0) {
    errors.push(fieldError.forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared"));
  }
  return [...errors, ...validateProfilesAgree(annotations, spec, "spec")];
}

/** Rejects tokens of a pod without a service account. */
function validateTokenVolumes({ serviceAccountName = "", volumes = [] }: PodSpec): FieldError[] {
  if (serviceAccountName !== "") return [];
  const text = "must not be specified when serviceAccountName is not set";
  return validateEach(volumes, ({ projected }, at) =>
    validateEach(projected?.sources ?? [], ({ serviceAccountToken }, index) =>
      serviceAccountToken !== undefined
        ? [fieldError.forbidden(`spec.volumes[${at}].projected.sources[${index}].serviceAccountToken`, text)]
        : [],
    ),
  );
}
