import { type FieldError, fieldError } from "../field-error.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { isPresent, numberOf, textOf } from "../json-reading.ts";

/** Reports a non-empty text that is not one of the choices. */
export function validateChoice(value: JsonValue | undefined, choices: readonly string[], field: string): FieldError[] {
  const text = textOf(value);
  return text === "" || choices.includes(text) ? [] : [fieldError.notSupported(field, text, choices)];
}

/** Reports a text that is empty or not one of the choices. */
export function validateRequiredChoice(
  value: JsonValue | undefined,
  choices: readonly string[],
  field: string,
): FieldError[] {
  return textOf(value) === "" ? [fieldError.required(field)] : validateChoice(value, choices, field);
}

/** Requires one of the choices. Unlike the rule above, an empty text is another choice and not an absent one. */
export function validateGivenChoice(
  value: string | undefined,
  choices: readonly string[],
  field: string,
): FieldError[] {
  if (value === undefined) return [fieldError.required(field)];
  return choices.includes(value) ? [] : [fieldError.notSupported(field, value, choices)];
}

/** Returns an error for each of the named texts that is empty or absent. */
export function requireTexts<T extends JsonObject>(
  owner: T,
  names: readonly (keyof T & string)[],
  field: string,
): FieldError[] {
  return names.filter((name) => textOf(owner[name]) === "").map((name) => fieldError.required(`${field}.${name}`));
}

/** Reports the problems of a text that is not empty. */
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

/** Reports a number below 1. An absent number counts as 0. */
export function validatePositive(value: JsonValue | undefined, field: string): FieldError[] {
  return numberOf(value) > 0 ? [] : [fieldError.invalid(field, value ?? 0, "must be greater than zero")];
}
