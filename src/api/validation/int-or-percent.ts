import { type FieldError, fieldError } from "../field-error.ts";
import type { JsonValue } from "../json.ts";
import { validateNotNegative } from "./field-rules.ts";

const percentText =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

/** A count of at least 0, or a percentage such as `25%`. Absent passes. */
export function validateIntOrPercent(value: JsonValue | undefined, field: string): FieldError[] {
  if (typeof value !== "string") return validateNotNegative(value, field);
  return percentOf(value) === undefined ? [fieldError.invalid(field, value, percentText)] : [];
}

export function validateNotMoreThan100Percent(value: JsonValue | undefined, field: string): FieldError[] {
  const percent = percentOf(value);
  return percent === undefined || percent <= 100
    ? []
    : [fieldError.invalid(field, value, "must not be greater than 100%")];
}

/** The number in front of the sign, undefined for what is no percentage. */
export function percentOf(value: JsonValue | undefined): number | undefined {
  return typeof value === "string" && /^[0-9]+%$/.test(value) ? Number(value.slice(0, -1)) : undefined;
}

/** The number that stands there, whether it is a count or a percentage; 0 when it is neither. */
export function intOrPercentValue(value: JsonValue | undefined): number {
  return typeof value === "number" ? value : (percentOf(value) ?? 0);
}
