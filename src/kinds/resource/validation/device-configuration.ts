import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { isJsonObject } from "../../../api/json.ts";
import type * as resourceV1 from "../../../api/types/resource-v1.ts";
import { validateCsiDriverName } from "../../core/validation/volume-source.ts";

const rawParametersBytesMax = 10 * 1024;

/** Validates parameters that only the driver understands. */
export function validateDeviceConfiguration({ opaque }: resourceV1.DeviceConfiguration, field: string): FieldError[] {
  if (opaque === undefined) return [fieldError.required(`${field}.opaque`)];
  return [
    ...validateCsiDriverName(opaque.driver, `${field}.opaque.driver`),
    ...validateRawParameters(opaque.parameters, `${field}.opaque.parameters`),
  ];
}

/** Accepts an object of any form, up to a size. */
export function validateRawParameters(value: unknown, field: string): FieldError[] {
  if (value === undefined || value === null) return [fieldError.required(field)];
  if (!isJsonObject(value)) return [fieldError.invalid(field, "<value omitted>", "must be a valid JSON object")];
  const bytes = Buffer.byteLength(JSON.stringify(value, bigIntAsNumber));
  return bytes > rawParametersBytesMax ? [fieldError.tooLong(field, rawParametersBytesMax)] : [];
}

function bigIntAsNumber(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? Number(value) : value;
}
