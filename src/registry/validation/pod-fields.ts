import { type FieldError, fieldError } from "../../api/field-error.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";

/** The items of a list that are objects; none when the value is no list. */
export function objectsOf(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

export function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

/** An error when the text is set but is none of the values. */
export function validateChoice(value: JsonValue | undefined, choices: readonly string[], field: string): FieldError[] {
  const text = textOf(value);
  return text === "" || choices.includes(text) ? [] : [fieldError.notSupported(field, text, choices)];
}

export function validateRange(
  value: JsonValue | undefined,
  { min, max }: { min: number; max: number },
  field: string,
): FieldError[] {
  if (typeof value !== "number" || (value >= min && value <= max)) return [];
  return [fieldError.invalid(field, value, `must be between ${min} and ${max}, inclusive`)];
}

export function validateNotNegative(value: JsonValue | undefined, field: string): FieldError[] {
  if (typeof value !== "number" || value >= 0) return [];
  return [fieldError.invalid(field, value, "must be greater than or equal to 0")];
}
