import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonValue } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { validateLabels } from "../../../api/validation/labels.ts";
import { dnsLabelProblems } from "../../../api/validation/names.ts";
import { textOf } from "../../../api/validation/fields.ts";
import { validateOverhead } from "../../core/validation/pod-spec.ts";
import { validateTolerations } from "../../core/validation/tolerations.ts";

export function validateRuntimeClass(runtimeClass: KubeObject): FieldError[] {
  const handler = textOf(runtimeClass["handler"] as JsonValue | undefined);
  const { nodeSelector, tolerations } = fieldsOf(runtimeClass["scheduling"]);
  return [
    ...dnsLabelProblems(handler).map((problem) => fieldError.invalid("handler", handler, problem)),
    ...validateOverhead(fieldsOf(runtimeClass["overhead"])["podFixed"], "overhead"),
    ...validateLabels(fieldsOf(nodeSelector) as Record<string, string>, "scheduling.nodeSelector"),
    ...validateTolerations(tolerations, "scheduling.tolerations"),
  ];
}

export function validateRuntimeClassUpdate(runtimeClass: KubeObject, old: KubeObject): FieldError[] {
  const handlerOf = (object: KubeObject) => object["handler"] as JsonValue | undefined;
  return validateImmutable(handlerOf(runtimeClass), handlerOf(old), "handler");
}
