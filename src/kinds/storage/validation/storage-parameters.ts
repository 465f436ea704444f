import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { labelKeyErrors } from "../../../api/label-syntax.ts";

const parametersMax = 512;
const parameterBytesMax = 256 * 1024;

/** The maker of the volumes of a class is a qualified name, whose case does not count. */
export function validateProvisioner(name: string, field: string): FieldError[] {
  if (name === "") return [fieldError.required(field)];
  const lower = name.toLowerCase();
  return labelKeyErrors(lower).map((problem) => fieldError.invalid(field, lower, problem));
}

/** Parameters are passed to the driver unchanged. Only their number and size are limited. */
export function validateParameters(parameters: Readonly<Record<string, string>>, field: string): FieldError[] {
  const pairs = Object.entries(parameters);
  if (pairs.length > parametersMax) return [fieldError.tooLong(field, parametersMax)];
  const errors = Object.hasOwn(parameters, "") ? [fieldError.invalid(field, "", "field can not be empty.")] : [];
  const bytes = pairs.reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value), 0);
  return bytes > parameterBytesMax ? [...errors, fieldError.tooLong(field, parameterBytesMax)] : errors;
}
