import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { isJsonObject, type JsonValue } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";
import { isPresent, validateNotNegative } from "../../../api/validation/fields.ts";

/** @param old what is replaced: its data, whatever it is, has to stay */
export function validateControllerRevision(revision: KubeObject, old?: KubeObject): FieldError[] {
  const data = revision["data"] as JsonValue | undefined;
  const errors = validateNotNegative(revision["revision"] as JsonValue | undefined, "revision");
  if (old !== undefined || isJsonObject(data)) return errors;
  const text = isPresent(data) ? "data must be a valid JSON object" : "data is mandatory";
  return [...errors, fieldError.required("data", text)];
}

export function validateControllerRevisionUpdate(revision: KubeObject, old: KubeObject): FieldError[] {
  return validateImmutable(revision["data"] as JsonValue | undefined, old["data"] as JsonValue | undefined, "data");
}
