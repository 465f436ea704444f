import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../api/json.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { isPresent, textOf } from "../../../api/validation/fields.ts";
import { validateCsiDriverName } from "../../core/validation/volume-source.ts";

export const rawParametersBytesMax = 10 * 1024;

/** `{opaque: {driver, parameters}}`: what only the driver understands. */
export function validateDeviceConfiguration({ opaque }: JsonObject, field: string): FieldError[] {
  if (!isPresent(opaque)) return [fieldError.required(`${field}.opaque`)];
  const { driver, parameters } = fieldsOf(opaque);
  return [
    ...validateCsiDriverName(textOf(driver), `${field}.opaque.driver`),
    ...validateRawParameters(parameters, `${field}.opaque.parameters`),
  ];
}

/** An object of any form, up to a size. */
export function validateRawParameters(value: JsonValue | undefined, field: string): FieldError[] {
  if (!isPresent(value)) return [fieldError.required(field)];
  if (!isJsonObject(value)) return [fieldError.invalid(field, "<value omitted>", "must be a valid JSON object")];
  const bytes = Buffer.byteLength(JSON.stringify(value, bigIntAsNumber));
  return bytes > rawParametersBytesMax ? [fieldError.tooLong(field, rawParametersBytesMax)] : [];
}

function bigIntAsNumber(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? Number(value) : value;
}
