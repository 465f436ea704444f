import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { labelKeyErrors, labelValueErrors } from "../../../api/label-syntax.ts";
import type * as resourceV1 from "../../../api/types/resource-v1.ts";
import { validateChoice, validateRequiredChoice, validateText } from "../../../api/validation/field-rules.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

const effects = ["NoExecute", "NoSchedule", "None"];
const operators = ["Equal", "Exists"];

/** Validates a taint, which keeps claims from a device, and pods that use it away. */
export function validateDeviceTaint({ key, value, effect }: resourceV1.DeviceTaint, field: string): FieldError[] {
  return [
    ...labelKeyErrors(key).map((problem) => fieldError.invalid(`${field}.key`, key, problem)),
    ...validateText(value, labelValueErrors, `${field}.value`),
    ...validateRequiredChoice(effect, effects, `${field}.effect`),
  ];
}

export function validateDeviceTolerations(
  tolerations: readonly resourceV1.DeviceToleration[],
  field: string,
): FieldError[] {
  return validateEach(tolerations, (toleration, at) => validateToleration(toleration, `${field}[${at}]`));
}

function validateToleration(toleration: resourceV1.DeviceToleration, field: string): FieldError[] {
  const { key, operator, value = "", effect } = toleration;
  return [
    ...validateText(key, labelKeyErrors, `${field}.key`),
    ...(operator === "Exists" && value !== ""
      ? [fieldError.invalid(`${field}.value`, value, "must be empty for operator `Exists`")]
      : []),
    ...(operator === "Equal" ? validateText(value, labelValueErrors, `${field}.value`) : []),
    ...validateRequiredChoice(operator, operators, `${field}.operator`),
    ...validateChoice(effect, effects, `${field}.effect`),
  ];
}
