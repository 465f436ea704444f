import { type FieldError, fieldError } from "../field-error.ts";
import { objectOf, objectsOf, textOf } from "../json-reading.ts";
import type { KubeObject } from "../object-meta.ts";
import { fieldErrorsMax } from "./labels.ts";

/** Validates `status.conditions` of kinds that have at most one condition of each type. */
export function validateTypedConditions(object: KubeObject): FieldError[] {
  const seen = new Set<string>();
  return objectsOf(objectOf(object["status"])["conditions"])
    .flatMap((condition, at) => {
      const type = textOf(condition["type"]);
      const field = `status.conditions[${at}].type`;
      const errors = seen.has(type) ? [fieldError.duplicate(field, type)] : [];
      seen.add(type);
      return type === "" ? [...errors, fieldError.required(field)] : errors;
    })
    .slice(0, fieldErrorsMax);
}
