import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { CustomResourceDefinitionVersion } from "../../../api/types/apiextensions-v1.ts";

const warningBytesMax = 256;
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

/** Checks the warning that answers carry in a header. */
export function validateDeprecationWarning(
  { deprecated, deprecationWarning: warning }: CustomResourceDefinitionVersion,
  field: string,
): FieldError[] {
  if (warning === undefined) return [];
  const refuse = (detail: string) => fieldError.invalid(field, warning, detail);
  if (deprecated !== true) return [refuse("can only be set for deprecated versions")];
  const errors: FieldError[] = [];
  if (Buffer.byteLength(warning) > warningBytesMax) {
    errors.push(refuse(`must be <= ${warningBytesMax} characters long`));
  }
  if (warning === "") errors.push(refuse("must not be an empty string"));
  const at = unprintableAt(warning);
  if (at === undefined) return errors;
  const detail = `must only contain printable UTF-8 characters; non-printable character found at index ${at}`;
  return [...errors, refuse(detail)];
}

/** Returns the byte at which the first character starts that cannot be printed. */
function unprintableAt(text: string): number | undefined {
  let bytes = 0;
  for (const character of text) {
    if (!printable.test(character)) return bytes;
    bytes += Buffer.byteLength(character);
  }
  return undefined;
}
