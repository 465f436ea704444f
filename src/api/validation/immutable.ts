import { type FieldError, fieldError } from "../field-error.ts";
import { equalJson, type JsonValue } from "../json.ts";

export const immutableText = "field is immutable";

/** An error when the value is not what it was. */
export function validateImmutable(
  value: JsonValue | undefined,
  old: JsonValue | undefined,
  field: string,
): FieldError[] {
  return equalJson(value, old) ? [] : [fieldError.invalid(field, value, immutableText)];
}
