import { type FieldError, fieldError } from "../field-error.ts";
import { equalJson, type JsonValue } from "../json.ts";
import { type InternalType, internalForm } from "./internal-form.ts";

export const immutableText = "field is immutable";

/**
 * Reports a value that has changed.
 * @param type of the value, if upstream shows the struct in its internal form
 */
export function validateImmutable(
  value: JsonValue | undefined,
  old: JsonValue | undefined,
  field: string,
  type?: InternalType,
): FieldError[] {
  if (equalJson(value, old)) return [];
  return [fieldError.invalid(field, type === undefined ? value : internalForm(value, type), immutableText)];
}
