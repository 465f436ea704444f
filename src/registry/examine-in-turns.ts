import { followedBy } from "../api/eventual.ts";
import type { FieldError } from "../api/field-error.ts";
import type { KubeObject } from "../api/object-meta.ts";
import { runSliced } from "../api/sliced.ts";
import type { Strategy } from "./strategy.ts";

/** Returns the rule of a Strategy whose validation is long enough to let other requests have a turn between its steps. */
export function examineInTurns<T extends KubeObject>(
  validate: (object: T, old?: T) => Generator<void, FieldError[]>,
): NonNullable<Strategy<T>["examine"]> {
  return ({ object, old }) => followedBy(runSliced(validate(object, old)), (errors) => ({ errors, warnings: [] }));
}
