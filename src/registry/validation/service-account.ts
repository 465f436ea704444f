import type { FieldError } from "../../api/field-error.ts";
import type { KubeObject } from "../../api/object-meta.ts";

/** A ServiceAccount has no rules beyond those of its metadata. */
export function validateServiceAccount(_serviceAccount: KubeObject): FieldError[] {
  return [];
}

export function validateServiceAccountUpdate(_serviceAccount: KubeObject, _old: KubeObject): FieldError[] {
  return [];
}
