import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { validateImageOfPod } from "./container.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { validatePodAnnotations, validateProfilesAgree } from "./pod-annotations.ts";
import { isPresent, objectsOf, textOf } from "../../../api/validation/fields.ts";
import { validatePodSpec } from "./pod-spec.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

/** A pod as such: what holds at any time. @param old what is replaced; absent when the pod is created */
export function validatePod(pod: KubeObject, old?: KubeObject): FieldError[] {
  const spec = fieldsOf(pod["spec"]);
  const annotations = pod.metadata.annotations ?? {};
  return [
    ...validatePodAnnotations(annotations, spec, "metadata.annotations"),
    ...validatePodSpec(spec, { isPod: true, podName: pod.metadata.name ?? "" }, "spec"),
    ...validateTokenVolumes(spec),
    ...["containers", "initContainers"].flatMap((list) =>
      validateEach(objectsOf(spec[list]), (container, at) => validateImageOfPod(container, `spec.${list}[${at}]`)),
    ),
    ...(old === undefined ? validateNewPod(spec, annotations) : []),
  ];
}

/** What a pod cannot have at first. */
function validateNewPod(spec: JsonObject, annotations: Readonly<Record<string, string>>): FieldError[] {
  const errors: FieldError[] = [];
  if (objectsOf(spec["ephemeralContainers"]).length > 0) {
    errors.push(fieldError.forbidden("spec.ephemeralContainers", "cannot be set on create"));
  }
  if (textOf(spec["nodeName"]) !== "" && objectsOf(spec["schedulingGates"]).length > 0) {
    errors.push(fieldError.forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared"));
  }
  return [...errors, ...validateProfilesAgree(annotations, spec, "spec")];
}

/** A token belongs to a service account. */
function validateTokenVolumes(spec: JsonObject): FieldError[] {
  if (textOf(spec["serviceAccountName"]) !== "") return [];
  const text = "must not be specified when serviceAccountName is not set";
  return validateEach(objectsOf(spec["volumes"]), (volume, at) =>
    validateEach(objectsOf(fieldsOf(volume["projected"])["sources"]), (source, index) =>
      isPresent(source["serviceAccountToken"])
        ? [fieldError.forbidden(`spec.volumes[${at}].projected.sources[${index}].serviceAccountToken`, text)]
        : [],
    ),
  );
}
