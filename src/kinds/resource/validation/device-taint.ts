import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject, JsonValue } from "../../../api/json.ts";
import { labelKeyErrors, labelValueErrors } from "../../../api/label-syntax.ts";
import { fieldErrorsMax } from "../../../api/validation/labels.ts";
import {
  objectsOf,
  textOf,
  validateChoice,
  validateRequiredChoice,
  validateText,
} from "../../../api/validation/fields.ts";

const effects = ["NoExecute", "NoSchedule", "None"];
const operators = ["Equal", "Exists"];

/** What keeps claims from a device, and pods that use it away. */
export function validateDeviceTaint(taint: JsonObject, field: string): FieldError[] {
  const key = textOf(taint["key"]);
  return [
    ...labelKeyErrors(key).map((problem) => fieldError.invalid(`${field}.key`, key, problem)),
    ...validateText(taint["value"], labelValueErrors, `${field}.value`),
    ...validateRequiredChoice(taint["effect"], effects, `${field}.effect`),
  ];
}

export function validateDeviceTolerations(value: JsonValue | undefined, field: string): FieldError[] {
  return objectsOf(value)
    .flatMap((toleration, at) => validateToleration(toleration, `${field}[${at}]`))
    .slice(0, fieldErrorsMax);
}

function validateToleration({ key, operator, value, effect }: JsonObject, field: string): FieldError[] {
  return [
    ...validateText(key, labelKeyErrors, `${field}.key`),
    ...validateRequiredChoice(operator, operators, `${field}.operator`),
    ...(operator === "Exists" && textOf(value) !== ""
      ? [fieldError.invalid(`${field}.value`, value, "must be empty for operator `Exists`")]
      : []),
    ...(operator === "Equal" ? validateText(value, labelValueErrors, `${field}.value`) : []),
    ...validateChoice(effect, effects, `${field}.effect`),
  ];
}
