import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonValue } from "../../../api/json.ts";
import { labelKeyErrors } from "../../../api/label-syntax.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { textOf } from "../../../api/validation/fields.ts";

const parametersMax = 512;
const parameterBytesMax = 256 * 1024;

/** Who makes the volumes of a class: a qualified name, in which case does not count. */
export function validateProvisioner(value: JsonValue | undefined, field: string): FieldError[] {
  const name = textOf(value);
  if (name === "") return [fieldError.required(field)];
  const lower = name.toLowerCase();
  return labelKeyErrors(lower).map((problem) => fieldError.invalid(field, lower, problem));
}

/** What a class hands on to its driver: bounded, and otherwise the driver's own affair. */
export function validateParameters(value: JsonValue | undefined, field: string): FieldError[] {
  const parameters = fieldsOf(value);
  const names = Object.keys(parameters);
  if (names.length > parametersMax) return [fieldError.tooLong(field, parametersMax)];
  const errors = names.includes("") ? [fieldError.invalid(field, "", "field can not be empty.")] : [];
  const bytes = names.reduce(
    (sum, name) => sum + Buffer.byteLength(name) + Buffer.byteLength(textOf(parameters[name])),
    0,
  );
  return bytes > parameterBytesMax ? [...errors, fieldError.tooLong(field, parameterBytesMax)] : errors;
}
