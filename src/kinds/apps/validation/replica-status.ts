import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject } from "../../../api/json.ts";
import { isPresent, numberOf, validateNotNegative } from "../../../api/validation/fields.ts";

/** No count is negative. */
export function validateCounts(status: JsonObject, names: readonly string[], field: string): FieldError[] {
  return names.flatMap((name) => validateNotNegative(status[name], `${field}.${name}`));
}

/** Parts of the replicas are no more than all of them, and no more are available than ready. */
export function validateParts(
  status: JsonObject,
  parts: readonly string[],
  field: string,
  readyName = "readyReplicas",
): FieldError[] {
  const all = numberOf(status["replicas"]);
  const errors = parts
    .filter((name) => numberOf(status[name]) > all)
    .map((name) =>
      fieldError.invalid(`${field}.${name}`, numberOf(status[name]), "cannot be greater than status.replicas"),
    );
  const available = numberOf(status["availableReplicas"]);
  if (available > numberOf(status["readyReplicas"])) {
    errors.push(fieldError.invalid(`${field}.availableReplicas`, available, `cannot be greater than ${readyName}`));
  }
  return errors;
}

/** Collisions of hashes are counted up, so that the same hash is not tried again. */
export function validateCollisionCount(status: JsonObject, old: JsonObject, field: string): FieldError[] {
  const [fresh, stored] = [status["collisionCount"], old["collisionCount"]];
  if (!isPresent(stored) || numberOf(fresh) >= numberOf(stored)) {
    return isPresent(stored) && !isPresent(fresh) ? [decremented(0, field)] : [];
  }
  return [decremented(numberOf(fresh), field)];
}

function decremented(count: number, field: string): FieldError {
  return fieldError.invalid(`${field}.collisionCount`, count, "cannot be decremented");
}
