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

/** Reports whether the values of texts and of base64 texts together are too large. */
export function exceedKeyValueBytes(texts: JsonObject, base64: JsonObject): boolean {
  // A code unit has at most three bytes, so most objects need no count.
  const units = sum(texts, (text) => text.length) + sum(base64, (text) => text.length);
  if (units * 3 <= keyValueBytesMax) return false;
  const bytes =
    sum(texts, (text) => Buffer.byteLength(text)) + sum(base64, (text) => Buffer.byteLength(text, "base64"));
  return bytes > keyValueBytesMax;
}

function sum(data: JsonObject, sizeOf: (text: string) => number): number {
  let size = 0;
  for (const key in data) {
    const value = data[key];
    if (typeof value === "string") size += sizeOf(value);
  }
  return size;
}
