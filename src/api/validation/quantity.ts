import { type FieldError, fieldError } from "../field-error.ts";
import type { JsonValue } from "../json.ts";
import { parseQuantity, type Quantity } from "../quantity.ts";

const nanosPerUnit = 1_000_000_000n;
export const notIntegerText = "must be an integer";

/** Undefined when the value is no quantity. */
export function parsedQuantity(value: JsonValue | undefined): Quantity | undefined {
  try {
    return parseQuantity(String(value));
  } catch {
    return undefined;
  }
}

export function isWhole({ nanos }: Quantity): boolean {
  return nanos % nanosPerUnit === 0n;
}

/** True for a whole number, and for one that upstream rounds up to it when it counts in thousandths. */
export function isWholeInThousandths({ nanos }: Quantity): boolean {
  const perThousandth = nanosPerUnit / 1000n;
  const rest = nanos % perThousandth;
  const thousandths = nanos / perThousandth + (rest > 0n ? 1n : 0n);
  return thousandths % 1000n === 0n;
}

/** Absent and malformed amounts pass: decoding has refused what is no quantity. */
export function validateQuantityNotNegative(value: JsonValue | undefined, field: string): FieldError[] {
  const quantity = parsedQuantity(value);
  return quantity !== undefined && quantity.nanos < 0n
    ? [fieldError.invalid(field, value, "must be greater than or equal to 0")]
    : [];
}

export function validateQuantityPositive(value: JsonValue | undefined, field: string): FieldError[] {
  const quantity = parsedQuantity(value);
  return quantity !== undefined && quantity.nanos <= 0n
    ? [fieldError.invalid(field, value, "must be greater than zero")]
    : [];
}
