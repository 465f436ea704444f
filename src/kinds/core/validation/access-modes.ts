import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonValue } from "../../../api/json.ts";
import { textsOf } from "../../../api/json-reading.ts";

const accessModes = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
const exclusiveMode = "ReadWriteOncePod";

/** How volumes may be mounted, as volumes offer and claims ask for. @param requiredText what an empty list is told */
export function validateAccessModes(value: JsonValue | undefined, requiredText: string, field: string): FieldError[] {
  const modes = textsOf(value);
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
