import { doubleText, quoteText } from "./go-literal.ts";
import { type JsonValue, replaceBigInt } from "./json.ts";

/**
 * One problem with one field of an object; an Invalid Status lists them. Messages are upstream's, because clients match
 * on them.
 */
export interface FieldError {
  readonly field: string;
  /** `cause.reason`. */
  readonly reason: FieldErrorReason;
  /** The message without the field path. */
  readonly message: string;
}
export type FieldErrorReason =
  | "FieldValueNotFound"
  | "FieldValueRequired"
  | "FieldValueDuplicate"
  | "FieldValueInvalid"
  | "FieldValueNotSupported"
  | "FieldValueForbidden"
  | "FieldValueTooLong"
  | "FieldValueTooShort"
  | "FieldValueTooMany"
  | "FieldValueTooFew"
  | "FieldValueTypeInvalid"
  | "InternalError";

export const fieldError = {
  required: (field: string, detail = "") => make(field, "FieldValueRequired", "Required value", detail),
  invalid: (field: string, value: JsonValue | undefined, detail = "") =>
    make(field, "FieldValueInvalid", `Invalid value: ${formatValue(value)}`, detail),
  typeInvalid: (field: string, value: JsonValue | undefined, detail = "") =>
    make(field, "FieldValueTypeInvalid", `Invalid value: ${formatValue(value)}`, detail),
  duplicate: (field: string, value: JsonValue | undefined) =>
    make(field, "FieldValueDuplicate", `Duplicate value: ${formatValue(value)}`, ""),
  /** An error that does not show the value, because it is too long or not informative. */
  invalidUnshown: (field: string, detail: string) => make(field, "FieldValueInvalid", "Invalid value", detail),
  notFound: (field: string, value: JsonValue | undefined, detail = "") =>
    make(field, "FieldValueNotFound", `Not found: ${formatValue(value)}`, detail),
  /** Upstream has types for most enumerations, and shows their values as JSON. */
  notSupported: (field: string, value: JsonValue | undefined, supported: readonly string[]) =>
    notSupported(field, typeof value === "string" ? jsonText(value) : formatValue(value), supported),
  /** The same for an enumeration that is plain text in upstream's types. */
  notSupportedText: (field: string, value: JsonValue, supported: readonly string[]) =>
    notSupported(field, formatValue(value), supported),
  forbidden: (field: string, detail = "") => make(field, "FieldValueForbidden", "Forbidden", detail),
  tooLong: (field: string, maxBytes: number) =>
    make(field, "FieldValueTooLong", `Too long: may not be more than ${counted(maxBytes, "byte")}`, ""),
  tooMany: (field: string, actual: number, max: number) =>
    make(field, "FieldValueTooMany", `Too many: ${actual}: must have at most ${counted(max, "item")}`, ""),
  internal: (field: string, detail: string) => make(field, "InternalError", "Internal error", detail),
  tooFew: (field: string, actual: number, min: number) =>
    make(field, "FieldValueTooFew", `Too few: ${actual}: must have at least ${counted(min, "item")}`, ""),
} as const;

/** Formats an error as `<field>: <message>`, as Status messages list it. */
export function fieldErrorText(error: FieldError): string {
  return `${error.field}: ${error.message}`;
}

function make(field: string, reason: FieldErrorReason, message: string, detail: string): FieldError {
  return { field, reason, message: detail === "" ? message : `${message}: ${detail}` };
}

function notSupported(field: string, shown: string, supported: readonly string[]): FieldError {
  const choices = supported.map((text) => JSON.stringify(text)).join(", ");
  return make(field, "FieldValueNotSupported", `Unsupported value: ${shown}: supported values: ${choices}`, "");
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function formatValue(value: JsonValue | undefined): string {
  if (value === undefined) return "null";
  if (typeof value === "string") return quoteText(value);
  if (typeof value === "number") return numberText(value);
  const text = JSON.stringify(value, replaceBigInt);
  return typeof value === "object" ? text.replaceAll(/[<>&\u2028\u2029]/g, escaped) : text;
}

/** Numbers beyond the integers of 64 bits, and all others, are doubles upstream. */
function numberText(value: number): string {
  return Number.isInteger(value) && Math.abs(value) < 2 ** 63 ? String(value) : doubleText(value);
}

/** Formats a text as Go's encoder of JSON does. */
function jsonText(value: string): string {
  return JSON.stringify(value).replaceAll(/[<>&\u2028\u2029]/g, escaped);
}

/** Escapes characters as Go's encoder does for HTML, in values that are not plain text. */
function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
