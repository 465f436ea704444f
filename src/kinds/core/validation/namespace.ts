import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { labelKeyErrors } from "../../../api/label-syntax.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { objectOf } from "../../../api/json-reading.ts";
import { validateFinalizerDomain } from "../../../api/validation/object-meta.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

export function validateNamespace(namespace: KubeObject): FieldError[] {
  return validateEach(finalizersOf(namespace), (finalizer) => validateFinalizer(finalizer, "spec.finalizers"));
}

/** Validates a write to `namespaces/finalize`. */
export function validateNamespaceFinalizers(namespace: KubeObject): FieldError[] {
  return validateEach(finalizersOf(namespace), (finalizer, at) =>
    validateFinalizer(finalizer, `spec.finalizers[${at}]`),
  );
}

function validateFinalizer(finalizer: string, field: string): FieldError[] {
  const errors = labelKeyErrors(finalizer).map((problem) => fieldError.invalid(field, finalizer, problem));
  return [...errors, ...validateFinalizerDomain(finalizer, field)];
}

/** The phase follows the deletionTimestamp: Terminating with one, Active without. */
export function validateNamespaceStatusUpdate(namespace: KubeObject): FieldError[] {
  const phase = String(objectOf(namespace["status"])["phase"] ?? "");
  if (namespace.metadata.deletionTimestamp === undefined) {
    return phase === "Active" || phase === ""
      ? []
      : [fieldError.invalid("status.Phase", phase, "may only be 'Active' if `deletionTimestamp` is empty")];
  }
  return phase === "Terminating"
    ? []
    : [fieldError.invalid("status.Phase", phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")];
}

function finalizersOf(namespace: KubeObject): string[] {
  const finalizers = objectOf(namespace["spec"])["finalizers"];
  return Array.isArray(finalizers) ? finalizers.map(String) : [];
}
