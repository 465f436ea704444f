import { type FieldError, fieldError } from "../field-error.ts";

const managerBytesMax = 128;
/** Limit of the characters that are reported of one name. */
const problemsMax = 100;

/** Reports a manager name that is too long, and each character of it that is not printable. */
export function validateFieldManager(manager: string, field: string): FieldError[] {
  const errors: FieldError[] = [];
  if (Buffer.byteLength(manager) > managerBytesMax) errors.push(fieldError.tooLong(field, managerBytesMax));
  let position = 0;
  for (const character of manager) {
    if (!isPrintable(character) && errors.length < problemsMax) {
      const code = (character.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, "0");
      errors.push(fieldError.invalid(field, manager, `invalid character U+${code} (at position ${position})`));
    }
    position += Buffer.byteLength(character);
  }
  return errors;
}

/** Reports whether Go prints a character: letters, marks, numbers, punctuation, symbols and the plain space. */
function isPrintable(character: string): boolean {
  return character === " " || !/[\p{C}\p{Z}]/u.test(character);
}
