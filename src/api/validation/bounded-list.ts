import { type FieldError, fieldError } from "../field-error.ts";

export type ItemRule<T> = (item: T, field: string) => readonly FieldError[];

/** Each item of a list, unless there are too many of them: then only that is said. */
export function validateBoundedList<T>(
  items: readonly T[],
  max: number,
  validate: ItemRule<T>,
  field: string,
): FieldError[] {
  if (items.length > max) return [fieldError.tooMany(field, items.length, max)];
  return items.flatMap((item, at) => validate(item, `${field}[${at}]`));
}

/** As a bounded list, and no two items with the same key. */
export function validateBoundedSet<T>(
  items: readonly T[],
  { max, keyOf, validate }: { max: number; keyOf: (item: T) => string; validate: ItemRule<T> },
  field: string,
): FieldError[] {
  if (items.length > max) return [fieldError.tooMany(field, items.length, max)];
  const errors = validateBoundedList(items, max, validate, field);
  const seen = new Set<string>();
  for (const [at, item] of items.entries()) {
    const key = keyOf(item);
    if (seen.has(key)) errors.push(fieldError.duplicate(`${field}[${at}]`, key));
    seen.add(key);
  }
  return errors;
}
