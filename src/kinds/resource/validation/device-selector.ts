import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonValue } from "../../../api/json.ts";
import { validateBoundedList } from "../../../api/validation/bounded-list.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { isPresent, objectsOf, textOf } from "../../../api/validation/fields.ts";

const selectorsMax = 32;
const expressionBytesMax = 10 * 1024;

/** Expressions over devices; what they mean is for the CEL compiler. */
export function validateDeviceSelectors(value: JsonValue | undefined, field: string): FieldError[] {
  return validateBoundedList(
    objectsOf(value),
    selectorsMax,
    ({ cel }, path) => {
      if (!isPresent(cel)) return [fieldError.required(`${path}.cel`)];
      const expression = textOf(fieldsOf(cel)["expression"]);
      if (expression.trim() === "") return [fieldError.required(`${path}.cel.expression`)];
      if (Buffer.byteLength(expression) <= expressionBytesMax) return [];
      return [fieldError.tooLong(`${path}.cel.expression`, expressionBytesMax)];
    },
    field,
  );
}
