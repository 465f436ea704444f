import type { FieldError } from "../field-error.ts";
import { fieldErrorsMax } from "./labels.ts";

/**
 * Returns the errors of the items, in order, up to the number that a Status lists. A body can contain a million items,
 * and finding an error in each would block other requests.
 */
export function validateEach<T>(
  items: readonly T[],
  validate: (item: T, at: number) => readonly FieldError[],
): FieldError[] {
  const errors: FieldError[] = [];
  // Without an iterator, because validations of large objects consist of many short lists.
  for (let at = 0; at < items.length; at++) {
    for (const error of validate(items[at] as T, at)) errors.push(error);
    if (errors.length >= fieldErrorsMax) break;
  }
  return errors;
}

/** Items that are validated without a pause. */
const stepItems = 64;

/** Does the same, and yields now and then. */
export function* validateManyInTurns<T>(
  items: readonly T[],
  validate: (item: T, at: number) => readonly FieldError[],
): Generator<void, FieldError[]> {
  const errors: FieldError[] = [];
  for (let at = 0; at < items.length; at++) {
    if (at % stepItems === stepItems - 1) yield;
    for (const error of validate(items[at] as T, at)) errors.push(error);
    if (errors.length >= fieldErrorsMax) break;
  }
  return errors;
}

/** Does the same for items that take long. Yields after each. */
export function* validateEachInTurns<T>(
  items: readonly T[],
  validate: (item: T, at: number) => Generator<void, readonly FieldError[]>,
): Generator<void, FieldError[]> {
  const errors: FieldError[] = [];
  for (const [at, item] of items.entries()) {
    for (const error of yield* validate(item, at)) errors.push(error);
    if (errors.length >= fieldErrorsMax) break;
    yield;
  }
  return errors;
}
