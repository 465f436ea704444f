import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type * as resourceV1 from "../../../api/types/resource-v1.ts";
import { validateDeviceLabel } from "./device-names.ts";

const countersMax = 32;

/** Validates counters that several devices draw on together. */
export function validateCounterSet({ name, counters }: resourceV1.CounterSet, field: string): FieldError[] {
  const errors = name === "" ? [fieldError.required(`${field}.name`)] : validateDeviceLabel(name, `${field}.name`);
  return [...errors, ...validateCounters(counters, `${field}.counters`)];
}

/** Validates the names of counters. Errors carry the path of the map, as upstream's do. */
export function validateCounters(counters: Readonly<Record<string, unknown>> | undefined, field: string): FieldError[] {
  const names = Object.keys(counters ?? {});
  if (names.length === 0) return [fieldError.required(field)];
  if (names.length > countersMax) return [fieldError.tooMany(field, names.length, countersMax)];
  return names.flatMap((name) => validateDeviceLabel(name, field));
}
