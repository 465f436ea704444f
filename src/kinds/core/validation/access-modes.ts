import { type FieldError, fieldError } from "../../../api/field-error.ts";

const accessModes = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
const exclusiveMode = "ReadWriteOncePod";

/**
 * Validates access modes, which volumes offer and claims request.
 * @param requiredText detail of the error for an empty list
 */
export function validateAccessModes(modes: readonly string[], requiredText: string, field: string): FieldError[] {
  if (modes.length === 0) return [fieldError.required(field, requiredText)];
  const known = modes.filter((mode) => accessModes.includes(mode));
  const errors = modes
    .filter((mode) => !accessModes.includes(mode))
    .map((mode) => fieldError.notSupported(field, mode, accessModes));
  const isMixed = known.includes(exclusiveMode) && known.some((mode) => mode !== exclusiveMode);
  return isMixed
    ? [...errors, fieldError.forbidden(field, "may not use ReadWriteOncePod with other access modes")]
    : errors;
}
