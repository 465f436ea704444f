import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { isJsonObject } from "../../../api/json.ts";
import { isPresent } from "../../../api/json-reading.ts";
import type { ControllerRevision } from "../../../api/types/apps-v1.ts";
import { validateNotNegative } from "../../../api/validation/field-rules.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";

/** @param old the present object; its data cannot change */
export function validateControllerRevision(
  { revision, data }: ControllerRevision,
  old?: ControllerRevision,
): FieldError[] {
  const errors = validateNotNegative(revision, "revision");
  if (old !== undefined || isJsonObject(data)) return errors;
  const text = isPresent(data) ? "data must be a valid JSON object" : "data is mandatory";
  return [...errors, fieldError.required("data", text)];
}

export function validateControllerRevisionUpdate(revision: ControllerRevision, old: ControllerRevision): FieldError[] {
  return validateImmutable(revision.data, old.data, "data");
}
