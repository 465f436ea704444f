import { type FieldError, fieldError } from "../../api/field-error.ts";
import { labelKeyErrors } from "../../api/label-syntax.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { fieldsOf } from "./key-values.ts";
import { validateQualifiedFinalizers } from "./object-meta.ts";

export function validateNamespace(namespace: KubeObject): FieldError[] {
  const finalizers = finalizersOf(namespace);
  return [
    ...finalizers.flatMap((finalizer) =>
      labelKeyErrors(finalizer).map((problem) => fieldError.invalid("spec.finalizers", finalizer, problem)),
    ),
    ...validateQualifiedFinalizers(finalizers, "spec.finalizers"),
  ];
}

/** The phase follows the deletionTimestamp: Terminating with one, Active without. */
export function validateNamespaceStatusUpdate(namespace: KubeObject): FieldError[] {
  const phase = String(fieldsOf(namespace["status"])["phase"] ?? "");
  if (namespace.metadata.deletionTimestamp === undefined) {
    return phase === "Active" || phase === ""
      ? []
      : [fieldError.invalid("status.phase", phase, "may only be 'Active' if `deletionTimestamp` is empty")];
  }
  return phase === "Terminating"
    ? []
    : [fieldError.invalid("status.phase", phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")];
}

/** The main resource changes metadata only, which its own rules cover. */
export function validateNamespaceUpdate(_namespace: KubeObject, _old: KubeObject): FieldError[] {
  return [];
}

function finalizersOf(namespace: KubeObject): string[] {
  const finalizers = fieldsOf(namespace["spec"])["finalizers"];
  return Array.isArray(finalizers) ? finalizers.map(String) : [];
}
