import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject, JsonValue } from "../../../api/json.ts";
import { validateDeviceLabel } from "./device-names.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { textOf } from "../../../api/validation/fields.ts";

const countersMax = 32;

/** What several devices draw on together. */
export function validateCounterSet(set: JsonObject, field: string): FieldError[] {
  const name = textOf(set["name"]);
  const errors = name === "" ? [fieldError.required(`${field}.name`)] : validateDeviceLabel(name, `${field}.name`);
  return [...errors, ...validateCounters(set["counters"], `${field}.counters`)];
}

/** Name → amount. */
export function validateCounters(value: JsonValue | undefined, field: string): FieldError[] {
  const names = Object.keys(fieldsOf(value));
  if (names.length === 0) return [fieldError.required(field)];
  if (names.length > countersMax) return [fieldError.tooMany(field, names.length, countersMax)];
  return names.flatMap((name) => validateDeviceLabel(name, `${field}[${name}]`));
}
