import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { labelKeyErrors } from "../../../api/label-syntax.ts";
import type { Namespace } from "../../../api/types/core-v1.ts";
import { validateFinalizerDomain } from "../../../api/validation/object-meta.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

export function validateNamespace(namespace: Namespace): FieldError[] {
  return validateEach(namespace.spec?.finalizers ?? [], (finalizer) => validateFinalizer(finalizer, "spec.finalizers"));
}

/** Validates a write to `namespaces/finalize`. */
export function validateNamespaceFinalizers(namespace: Namespace): FieldError[] {
  return validateEach(namespace.spec?.finalizers ?? [], (finalizer, at) =>
    validateFinalizer(finalizer, `spec.finalizers[${at}]`),
  );
}

function validateFinalizer(finalizer: string, field: string): FieldError[] {
  const errors = labelKeyErrors(finalizer).map((problem) => fieldError.invalid(field, finalizer, problem));
  return [...errors, ...validateFinalizerDomain(finalizer, field)];
}

/** The phase follows the deletionTimestamp: Terminating with one, Active without. */
export function validateNamespaceStatusUpdate(namespace: Namespace): FieldError[] {
  const phase = namespace.status?.phase ?? "";
  if (namespace.metadata.deletionTimestamp === undefined) {
    return phase === "Active" || phase === ""
      ? []
      : [fieldError.invalid("status.Phase", phase, "may only be 'Active' if `deletionTimestamp` is empty")];
  }
  return phase === "Terminating"
    ? []
    : [fieldError.invalid("status.Phase", phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")];
}
