import { type FieldError, fieldError } from "../field-error.ts";
import type { JsonValue } from "../json.ts";
import { validateNotNegative } from "./field-rules.ts";

const percentText =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

/** Validates a count of at least 0, or a percentage such as `25%`. Absent passes. */
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

/** Returns the number in front of the percent sign; undefined if the value is not a percentage. */
export function percentOf(value: JsonValue | undefined): number | undefined {
  return typeof value === "string" && /^[0-9]+%$/.test(value) ? Number(value.slice(0, -1)) : undefined;
}

/** Returns the number of a count or percentage; 0 if the value is neither. */
export function intOrPercentValue(value: JsonValue | undefined): number {
  return typeof value === "number" ? value : (percentOf(value) ?? 0);
}
