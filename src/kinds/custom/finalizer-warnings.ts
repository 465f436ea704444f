import { labelKeyErrors } from "../../api/label-syntax.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { foregroundDeletionFinalizer, namespaceFinalizer, orphanFinalizer } from "../../api/vendor.ts";

const standardFinalizers: ReadonlySet<string> = new Set([
  orphanFinalizer,
  foregroundDeletionFinalizer,
  namespaceFinalizer,
]);
const preference = "to avoid accidental conflicts with other finalizer writers";

/** Returns warnings about finalizers that a write adds and that others might use too. */
export function finalizerWarnings(object: KubeObject, old?: KubeObject): string[] {
  const known = new Set(old?.metadata.finalizers);
  const added = [...new Set(object.metadata.finalizers)].filter((finalizer) => !known.has(finalizer)).sort();
  return added.flatMap((finalizer) => {
    const problems = labelKeyErrors(finalizer);
    if (!finalizer.includes("/") && !standardFinalizers.has(finalizer)) {
      const path = finalizer.includes(".") ? " including a path (/)" : "";
      problems.push(`prefer a domain-qualified finalizer name${path} ${preference}`);
    }
    return problems.map((problem) => `metadata.finalizers: ${JSON.stringify(finalizer)}: ${problem}`);
  });
}
