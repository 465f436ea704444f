import { type FieldError, fieldError } from "../field-error.ts";
import { labelKeyErrors, labelValueErrors } from "../label-syntax.ts";

export const annotationsBytesMax = 256 * 1024;
/** Limit of the errors that one Status lists: a body can contain a hundred thousand. */
export const fieldErrorsMax = 100;

export function validateLabels(labels: Readonly<Record<string, string>> | undefined, field: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries(labels ?? {})) {
    for (const problem of labelKeyErrors(key)) errors.push(fieldError.invalid(field, key, problem));
    for (const problem of labelValueErrors(value)) errors.push(fieldError.invalid(field, value, problem));
    if (errors.length >= fieldErrorsMax) break;
  }
  return errors;
}

export function validateAnnotations(
  annotations: Readonly<Record<string, string>> | undefined,
  field: string,
): FieldError[] {
  const errors: FieldError[] = [];
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations ?? {})) {
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
    if (errors.length >= fieldErrorsMax) continue;
    for (const problem of labelKeyErrors(key.toLowerCase())) errors.push(fieldError.invalid(field, key, problem));
  }
  if (bytes > annotationsBytesMax) errors.push(fieldError.tooLong(field, annotationsBytesMax));
  return errors;
}
