import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type * as coreV1 from "../../../api/types/core-v1.ts";
import type * as nodeV1 from "../../../api/types/node-v1.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";
import { internalForm } from "../../../api/validation/internal-form.ts";
import { validateLabels } from "../../../api/validation/labels.ts";
import { dnsLabelProblems } from "../../../api/validation/names.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";
import { validateOverhead } from "../../core/validation/pod-spec.ts";
import { validateTolerations } from "../../core/validation/tolerations.ts";

export function validateRuntimeClass({ handler, overhead, scheduling }: nodeV1.RuntimeClass): FieldError[] {
  const { nodeSelector = {}, tolerations = [] } = scheduling ?? {};
  return [
    ...(handler === ""
      ? [fieldError.required("handler")]
      : dnsLabelProblems(handler).map((problem) => fieldError.invalid("handler", handler, problem))),
    ...validateOverhead(overhead?.podFixed, "overhead"),
    ...validateLabels(nodeSelector, "scheduling.nodeSelector"),
    ...validateTolerations(tolerations, "scheduling.tolerations"),
    ...validateUnique(tolerations, "scheduling.tolerations"),
  ];
}

export function validateRuntimeClassUpdate(runtimeClass: nodeV1.RuntimeClass, old: nodeV1.RuntimeClass): FieldError[] {
  return validateImmutable(runtimeClass.handler, old.handler, "handler");
}

/** Tolerations that differ in their seconds only are the same. */
function validateUnique(tolerations: readonly coreV1.Toleration[], field: string): FieldError[] {
  const seen = new Set<string>();
  return validateEach(tolerations, (toleration, at) => {
    const { key = "", operator = "", value = "", effect = "" } = toleration;
    const identity = JSON.stringify([key, operator, value, effect]);
    if (!seen.has(identity)) {
      seen.add(identity);
      return [];
    }
    return [fieldError.duplicate(`${field}[${at}]`, internalForm(toleration, "core/v1.Toleration"))];
  });
}
