import { type FieldError, fieldError } from "../field-error.ts";
import type { JsonObject } from "../json.ts";
import { fieldErrorsMax } from "./labels.ts";
import { configKeyProblems } from "./names.ts";

/** The largest size of all values of one ConfigMap or Secret together. */
export const keyValueBytesMax = 1024 * 1024;

export function validateKeys(data: JsonObject, field: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const key of Object.keys(data)) {
    if (errors.length >= fieldErrorsMax) break;
    for (const problem of configKeyProblems(key)) errors.push(fieldError.invalid(`${field}[${key}]`, key, problem));
  }
  return errors;
}

export function textBytes(data: JsonObject): number {
  return sum(data, (value) => Buffer.byteLength(value));
}

/** Counts the bytes that the base64 texts encode. */
export function base64Bytes(data: JsonObject): number {
  return sum(data, (value) => Buffer.byteLength(value, "base64"));
}

function sum(data: JsonObject, bytesOf: (text: string) => number): number {
  return Object.values(data).reduce<number>(
    (bytes, value) => bytes + (typeof value === "string" ? bytesOf(value) : 0),
    0,
  );
}
