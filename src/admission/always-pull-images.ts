import { fieldError, fieldErrorText } from "../api/field-error.ts";
import type { Pod } from "../api/types/core-v1.ts";
import type { AdmissionPlugin } from "../registry/admission.ts";
import { isResource, refuse } from "./attributes.ts";
import { containersOf, podSpecOf } from "./pod.ts";

const containerFields = ["initContainers", "containers", "ephemeralContainers"] as const;

/**
 * Makes every container pull its image, so that an image already on a node does not make up for missing credentials.
 */
export function alwaysPullImages(): AdmissionPlugin {
  return {
    name: "AlwaysPullImages",
    admit(attributes) {
      if (!isPodWrite(attributes)) return;
      for (const container of containersOf(podSpecOf(attributes.object as Pod))) container.imagePullPolicy = "Always";
    },
    validate(attributes) {
      if (!isPodWrite(attributes)) return;
      const spec = podSpecOf(attributes.object as Pod);
      for (const field of containerFields) {
        for (const [at, { imagePullPolicy = "" }] of (spec[field] ?? []).entries()) {
          if (imagePullPolicy === "Always") continue;
          const error = fieldError.notSupported(`spec.${field}[${at}].imagePullPolicy`, imagePullPolicy, ["Always"]);
          throw refuse(attributes, fieldErrorText(error));
        }
      }
    },
  };
}

function isPodWrite(attributes: Parameters<typeof isResource>[0]): boolean {
  const { operation, subresource } = attributes;
  if (operation === "DELETE" || !isResource(attributes, "", "pods")) return false;
  return subresource === "" || subresource === "ephemeralcontainers";
}
