import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { equalJson } from "../../../api/json.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import { mirrorAnnotation, validatePodAnnotationsUpdate } from "./pod-annotations.ts";

/** Rejects changes of ephemeral containers. New ones may be added to a running pod. */
export function validateEphemeralContainersUpdate(pod: Pod, old: Pod): FieldError[] {
  const annotations = old.metadata.annotations ?? {};
  if (Object.hasOwn(annotations, mirrorAnnotation)) {
    return [fieldError.forbidden("", "static pods do not support ephemeral containers")];
  }
  const field = "spec.ephemeralContainers";
  const fresh = new Map((pod.spec?.ephemeralContainers ?? []).map((container) => [container.name, container]));
  return [
    ...validatePodAnnotationsUpdate(pod.metadata.annotations ?? {}, annotations, "metadata.annotations"),
    ...(old.spec?.ephemeralContainers ?? []).flatMap((container) => {
      const name = JSON.stringify(container.name);
      const now = fresh.get(container.name);
      if (now === undefined) {
        return [fieldError.forbidden(field, `existing ephemeral containers ${name} may not be removed\n`)];
      }
      if (equalJson(now, container)) return [];
      return [fieldError.forbidden(field, `existing ephemeral containers ${name} may not be changed\n`)];
    }),
  ];
}
