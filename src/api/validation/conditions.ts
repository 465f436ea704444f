import { type FieldError, fieldError } from "../field-error.ts";
import { labelKeyErrors } from "../label-syntax.ts";
import type { Condition } from "../types/meta-v1.ts";
import { validateNotNegative } from "./field-rules.ts";
import { fieldErrorsMax } from "./labels.ts";

const statuses = ["False", "True", "Unknown"];
const reasonBytesMax = 1024;
const messageBytesMax = 32 * 1024;
const reasonText =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";

/** Validates the conditions of a newer kind: one of each type, each with a status, a reason and a time. */
export function validateConditions(conditions: readonly Condition[] | undefined, field: string): FieldError[] {
  const seen = new Set<string>();
  return (conditions ?? [])
    .flatMap((condition, at) => {
      const { type } = condition;
      const errors = seen.has(type) ? [fieldError.duplicate(`${field}[${at}].type`, type)] : [];
      seen.add(type);
      return [...errors, ...validateCondition(condition, `${field}[${at}]`)];
    })
    .slice(0, fieldErrorsMax);
}

function validateCondition(condition: Condition, field: string): FieldError[] {
  const { type, status, observedGeneration, lastTransitionTime, reason, message } = condition;
  return [
    ...labelKeyErrors(type).map((problem) => fieldError.invalid(`${field}.type`, type, problem)),
    ...(statuses.includes(status) ? [] : [fieldError.notSupported(`${field}.status`, status, statuses)]),
    ...validateNotNegative(observedGeneration, `${field}.observedGeneration`),
    ...(lastTransitionTime === null ? [fieldError.required(`${field}.lastTransitionTime`)] : []),
    ...validateReason(reason, `${field}.reason`),
    ...(Buffer.byteLength(message) > messageBytesMax ? [fieldError.tooLong(`${field}.message`, messageBytesMax)] : []),
  ];
}

function validateReason(reason: string, field: string): FieldError[] {
  if (reason === "") return [fieldError.required(field)];
  const isValid = /^[A-Za-z][A-Za-z0-9_,:]*$/.test(reason) && /[A-Za-z0-9_]$/.test(reason);
  return [
    ...(isValid ? [] : [fieldError.invalid(field, reason, reasonText)]),
    ...(Buffer.byteLength(reason) > reasonBytesMax ? [fieldError.tooLong(field, reasonBytesMax)] : []),
  ];
}
