import { type FieldError, fieldError } from "../field-error.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { labelKeyErrors } from "../label-syntax.ts";
import { isPresent, objectsOf, textOf } from "../json-reading.ts";
import { validateNotNegative } from "./field-rules.ts";
import { fieldErrorsMax } from "./labels.ts";

const statuses = ["False", "True", "Unknown"];
const reasonBytesMax = 1024;
const messageBytesMax = 32 * 1024;
const reasonText =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";

/** Validates the conditions of a newer kind: one of each type, each with a status, a reason and a time. */
export function validateConditions(value: JsonValue | undefined, field: string): FieldError[] {
  const seen = new Set<string>();
  return objectsOf(value)
    .flatMap((condition, at) => {
      const type = textOf(condition["type"]);
      const errors = seen.has(type) ? [fieldError.duplicate(`${field}[${at}].type`, type)] : [];
      seen.add(type);
      return [...errors, ...validateCondition(condition, `${field}[${at}]`)];
    })
    .slice(0, fieldErrorsMax);
}

function validateCondition(condition: JsonObject, field: string): FieldError[] {
  const [type, status] = [textOf(condition["type"]), textOf(condition["status"])];
  const time = condition["lastTransitionTime"];
  return [
    ...labelKeyErrors(type).map((problem) => fieldError.invalid(`${field}.type`, type, problem)),
    ...(statuses.includes(status) ? [] : [fieldError.notSupported(`${field}.status`, status, statuses)]),
    ...validateNotNegative(condition["observedGeneration"], `${field}.observedGeneration`),
    ...(isPresent(time) ? [] : [fieldError.required(`${field}.lastTransitionTime`)]),
    ...validateReason(textOf(condition["reason"]), `${field}.reason`),
    ...(Buffer.byteLength(textOf(condition["message"])) > messageBytesMax
      ? [fieldError.tooLong(`${field}.message`, messageBytesMax)]
      : []),
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
