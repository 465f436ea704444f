import { type FieldError, fieldError } from "../field-error.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";

/** The items of a list that are objects; none when the value is no list. */
export function objectsOf(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

export function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

export function textsOf(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.map(textOf) : [];
}

/** 0 for what is no number. Integers beyond 2^53 lose their last digits, which no bound asks for. */
export function numberOf(value: JsonValue | undefined): number {
  return typeof value === "number" || typeof value === "bigint" ? Number(value) : 0;
}

export function isPresent(value: JsonValue | undefined): value is JsonValue {
  return value !== undefined && value !== null;
}

/** An error when the text is set but is none of the values. */
export function validateChoice(value: JsonValue | undefined, choices: readonly string[], field: string): FieldError[] {
  const text = textOf(value);
  return text === "" || choices.includes(text) ? [] : [fieldError.notSupported(field, text, choices)];
}

/** An error when the text is not set, or is none of the values. */
export function validateRequiredChoice(
  value: JsonValue | undefined,
  choices: readonly string[],
  field: string,
): FieldError[] {
  return textOf(value) === "" ? [fieldError.required(field)] : validateChoice(value, choices, field);
}

/** Returns an error for each of the texts that is empty or absent. */
export function requireTexts<T extends JsonObject>(
  owner: T,
  names: readonly (keyof T & string)[],
  field: string,
): FieldError[] {
  return names.filter((name) => textOf(owner[name]) === "").map((name) => fieldError.required(`${field}.${name}`));
}

/** What is wrong with a text that is set; an absent or empty one passes. */
export function validateText(
  value: JsonValue | undefined,
  problemsOf: (text: string) => readonly string[],
  field: string,
): FieldError[] {
  const text = textOf(value);
  return text === "" ? [] : problemsOf(text).map((problem) => fieldError.invalid(field, text, problem));
}

export function validateRange(
  value: JsonValue | undefined,
  { min, max }: { min: number; max: number },
  field: string,
): FieldError[] {
  if (!isPresent(value) || (numberOf(value) >= min && numberOf(value) <= max)) return [];
  return [fieldError.invalid(field, value, `must be between ${min} and ${max}, inclusive`)];
}

export function validateNotNegative(value: JsonValue | undefined, field: string): FieldError[] {
  if (numberOf(value) >= 0) return [];
  return [fieldError.invalid(field, value, "must be greater than or equal to 0")];
}

/** An absent number counts as 0. */
export function validatePositive(value: JsonValue | undefined, field: string): FieldError[] {
  return numberOf(value) > 0 ? [] : [fieldError.invalid(field, value ?? 0, "must be greater than zero")];
}
