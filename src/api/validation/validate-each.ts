import type { FieldError } from "../field-error.ts";
import { fieldErrorsMax } from "./labels.ts";

/**
 * Errors of the items, in order, until there are as many as a Status lists: a body can hold a million items, and to find
 * something wrong with each of them would keep everyone else waiting.
 */
export function validateEach<T>(
  items: readonly T[],
  validate: (item: T, at: number) => readonly FieldError[],
): FieldError[] {
  const errors: FieldError[] = [];
  for (const [at, item] of items.entries()) {
    for (const error of validate(item, at)) errors.push(error);
    if (errors.length >= fieldErrorsMax) break;
  }
  return errors;
}
