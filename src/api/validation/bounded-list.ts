import { type FieldError, fieldError } from "../field-error.ts";
import type { JsonValue } from "../json.ts";

export type ItemRule<T> = (item: T, field: string) => readonly FieldError[];

/** Validates each item of a list; a list with too many items gives that error alone. */
export function validateBoundedList<T>(
  items: readonly T[],
  max: number,
  validate: ItemRule<T>,
  field: string,
): FieldError[] {
  if (items.length > max) return [fieldError.tooMany(field, items.length, max)];
  return items.flatMap((item, at) => validate(item, `${field}[${at}]`));
}

/** The rules of a list whose items have keys. */
export interface BoundedSet<T> {
  readonly max: number;
  readonly keyOf: (item: T) => string;
  /** Returns the key as errors show it; by default the key itself. */
  readonly shownKey?: (item: T) => JsonValue;
  readonly validate: ItemRule<T>;
}

/** Validates a bounded list in which no two items have the same key. */
export function validateBoundedSet<T>(
  items: readonly T[],
  { max, keyOf, shownKey = keyOf, validate }: BoundedSet<T>,
  field: string,
): FieldError[] {
  if (items.length > max) return [fieldError.tooMany(field, items.length, max)];
  const errors = validateBoundedList(items, max, validate, field);
  const seen = new Set<string>();
  for (const [at, item] of items.entries()) {
    const key = keyOf(item);
    if (seen.has(key)) errors.push(fieldError.duplicate(`${field}[${at}]`, shownKey(item)));
    seen.add(key);
  }
  return errors;
}
