import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type * as resourceV1 from "../../../api/types/resource-v1.ts";
import { validateBoundedList } from "../../../api/validation/bounded-list.ts";

const selectorsMax = 32;
const expressionBytesMax = 10 * 1024;

/** Validates the size and number of expressions over devices. Their meaning is for the CEL compiler. */
export function validateDeviceSelectors(selectors: readonly resourceV1.DeviceSelector[], field: string): FieldError[] {
  return validateBoundedList(
    selectors,
    selectorsMax,
    ({ cel }, path) => {
      if (cel === undefined) return [fieldError.required(`${path}.cel`)];
      if (cel.expression.trim() === "") return [fieldError.required(`${path}.cel.expression`)];
      if (Buffer.byteLength(cel.expression) <= expressionBytesMax) return [];
      return [fieldError.tooLong(`${path}.cel.expression`, expressionBytesMax)];
    },
    field,
  );
}
