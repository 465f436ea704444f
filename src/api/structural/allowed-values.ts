import { type FieldError, fieldError } from "../field-error.ts";
import { equalJson, type JsonValue, sortedJson } from "../json.ts";
import { isInteger } from "./number-checks.ts";

/** The values of an `enum`, indexed for lookup. */
interface AllowedValues {
  has(value: JsonValue): boolean;
  /** Writes the error about a value that is not allowed. */
  refuse(field: string, value: JsonValue): FieldError;
}

/**
 * Makes a set of values. Like upstream, membership converts a value to the type of each allowed one first: a fraction is
 * cut off to match a whole number, and a whole number matches the character with its code. Null never matches.
 */
export function allowedValues(values: readonly JsonValue[]): AllowedValues {
  const scalars = new Set<JsonValue>();
  const whole = new Set<bigint>();
  const compound: JsonValue[] = [];
  for (const value of values) {
    if (typeof value === "object") compound.push(value);
    else if (isNumber(value) && isInteger(value)) whole.add(BigInt(value));
    else scalars.add(value);
  }
  const has = (value: JsonValue): boolean => {
    if (value === null) return false;
    if (isNumber(value)) {
      const number = Number(value);
      if (Number.isFinite(number) && whole.has(BigInt(Math.trunc(number)))) return true;
      return scalars.has(number) || (isCodePoint(number) && scalars.has(String.fromCodePoint(number)));
    }
    if (typeof value !== "object") return scalars.has(value);
    return compound.some((allowed) => allowed !== null && equalJson(allowed, value));
  };
  let listed: string | undefined;
  return {
    has,
    refuse(field, value) {
      listed ??= values.map((one) => JSON.stringify(typeof one === "string" ? one : jsonText(one))).join(", ");
      const { reason, message } = fieldError.notSupportedText(field, sortedJson(value), []);
      return { field, reason, message: message + listed };
    },
  };
}

function isNumber(value: JsonValue): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}

function isCodePoint(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= 0x10ffff;
}

function jsonText(value: JsonValue): string {
  return typeof value === "bigint"
    ? String(value)
    : JSON.stringify(sortedJson(value), (_, part: unknown) => (typeof part === "bigint" ? Number(part) : part));
}
