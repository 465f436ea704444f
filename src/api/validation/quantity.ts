import { type FieldError, fieldError } from "../field-error.ts";
import type { JsonValue } from "../json.ts";
import { nanosPerUnit, parseQuantity, type Quantity } from "../quantity.ts";

export const notIntegerText = "must be an integer";

/** Parses a quantity; returns undefined if it is malformed. */
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

/** Reports whether a quantity is whole, or rounds up to a whole number when counted in thousandths as upstream does. */
export function isWholeInThousandths({ nanos }: Quantity): boolean {
  const perThousandth = nanosPerUnit / 1000n;
  const rest = nanos % perThousandth;
  const thousandths = nanos / perThousandth + (rest > 0n ? 1n : 0n);
  return thousandths % 1000n === 0n;
}

/** Rejects a negative quantity. Absent and malformed ones pass: decoding has already rejected the malformed. */
export function validateQuantityNotNegative(value: JsonValue | undefined, field: string): FieldError[] {
  const quantity = parsedQuantity(value);
  return quantity !== undefined && quantity.nanos < 0n
    ? [fieldError.invalid(field, value, "must be greater than or equal to 0")]
    : [];
}

/** Rejects a negative quantity and shows it as a whole number, rounded away from zero. */
export function validateQuantitySign(value: JsonValue | undefined, field: string): FieldError[] {
  const quantity = parsedQuantity(value);
  if (quantity === undefined || quantity.nanos >= 0n) return [];
  const whole = -((nanosPerUnit - 1n - quantity.nanos) / nanosPerUnit);
  return [fieldError.invalid(field, Number(whole), "must be a valid resource quantity")];
}

export function validateQuantityPositive(value: JsonValue | undefined, field: string): FieldError[] {
  const quantity = parsedQuantity(value);
  return quantity !== undefined && quantity.nanos <= 0n
    ? [fieldError.invalid(field, value, "must be greater than zero")]
    : [];
}
