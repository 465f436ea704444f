import { parseGoDuration } from "../../api/go-duration.ts";
import { doubleText } from "../../api/go-literal.ts";
import { CelType, typeText } from "../types/cel-type.ts";
import { checkedInt, checkedTimestamp, intOverflow, uintOverflow } from "./arithmetic.ts";
import { floorDivide, formatDuration, formatTimestamp, parseTimestamp } from "./time-text.ts";
import { Duration, EvaluationError, Optional, type Result, Timestamp, typeOfValue, Uint, type Value } from "./value.ts";

const intMin = -(2 ** 63);
const intEnd = 2 ** 63;
const uintEnd = 2 ** 64;
const uintMax = 2n ** 64n - 1n;
const nanosPerSecond = 1_000_000_000n;
const notUtf8 = new EvaluationError("invalid UTF-8 in bytes, cannot convert to string");

/** Fails with upstream's words, which name both types. */
export function conversionError(value: Value, to: string): EvaluationError {
  const from = typeText(typeOfValue(value));
  return new EvaluationError(`type conversion error from '${from}' to '${to}'`);
}

export function toInt(value: Value): Result {
  if (typeof value === "bigint") return value;
  if (typeof value === "number") return value > intMin && value < intEnd ? BigInt(Math.trunc(value)) : intOverflow;
  if (typeof value === "string")
    return isInteger(value) ? fitting(checkedInt(BigInt(signed(value))), value, "int") : conversionError(value, "int");
  if (value instanceof Uint) return checkedInt(value.value);
  if (value instanceof Timestamp) return floorDivide(value.nanos, nanosPerSecond);
  if (value instanceof Duration) return value.nanos;
  return conversionError(value, "int");
}

function isInteger(text: string): boolean {
  return text.length <= 64 && /^[+-]?\d+$/.test(text);
}

function signed(text: string): string {
  return text.startsWith("+") ? text.slice(1) : text;
}

function fitting(result: Result, value: Value, to: string): Result {
  return result instanceof EvaluationError ? conversionError(value, to) : result;
}

export function toUint(value: Value): Result {
  if (value instanceof Uint) return value;
  if (typeof value === "number")
    return value >= 0 && value < uintEnd ? new Uint(BigInt(Math.trunc(value))) : uintOverflow;
  if (typeof value === "bigint") return value < 0n ? uintOverflow : new Uint(value);
  if (typeof value === "string" && value.length <= 64 && /^\d+$/.test(value)) {
    const parsed = BigInt(value);
    if (parsed <= uintMax) return new Uint(parsed);
  }
  return conversionError(value, "uint");
}

export function toDouble(value: Value): Result {
  if (typeof value === "number") return value;
  if (typeof value === "bigint") return Number(value);
  if (value instanceof Uint) return Number(value.value);
  if (typeof value === "string") return parseDouble(value) ?? conversionError(value, "double");
  return conversionError(value, "double");
}

const doubleLengthMax = 1_024;

/** Reads what Go reads as a float: decimal, hexadecimal with an exponent, infinities, underscores nowhere. */
export function parseDouble(text: string): number | undefined {
  if (text.length > doubleLengthMax) return undefined;
  const special = /^([+-]?)(inf|infinity|nan)$/i.exec(text);
  if (special !== null) {
    if (special[2]?.toLowerCase() === "nan") return special[1] === "" ? Number.NaN : undefined;
    return special[1] === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  }
  const hex = /^([+-]?)0[xX]([0-9a-fA-F]*)(?:\.([0-9a-fA-F]*))?[pP]([+-]?\d+)$/.exec(text);
  if (hex !== null) return hexDouble(hex);
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}

function hexDouble([, sign, whole = "", fraction = "", exponent = "0"]: RegExpExecArray): number | undefined {
  if (whole === "" && fraction === "") return undefined;
  const mantissa = Number(BigInt(`0x${whole}${fraction}`));
  const value = mantissa * 2 ** (Number(exponent) - 4 * fraction.length);
  if (!Number.isFinite(value)) return undefined;
  return sign === "-" ? -value : value;
}

const truths: ReadonlySet<string> = new Set(["1", "t", "T", "true", "TRUE", "True"]);
const falsehoods: ReadonlySet<string> = new Set(["0", "f", "F", "false", "FALSE", "False"]);

export function toBool(value: Value): Result {
  if (typeof value === "boolean") return value;
  if (typeof value === "string" && truths.has(value)) return true;
  if (typeof value === "string" && falsehoods.has(value)) return false;
  return conversionError(value, "bool");
}

export function toBytes(value: Value): Result {
  if (value instanceof Uint8Array) return value;
  return typeof value === "string" ? new TextEncoder().encode(value) : conversionError(value, "bytes");
}

const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function toText(value: Value): Result {
  switch (typeof value) {
    case "string":
      return value;
    case "bigint":
    case "boolean":
      return String(value);
    case "number":
      return doubleText(value);
    default:
      return objectText(value);
  }
}

function objectText(value: Value): Result {
  if (value === null) return "null";
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Duration) return formatDuration(value.nanos);
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof CelType) return value.name;
  if (!(value instanceof Uint8Array)) return conversionError(value, "string");
  try {
    return strictDecoder.decode(value);
  } catch {
    return notUtf8;
  }
}

export function toDuration(value: Value): Result {
  if (value instanceof Duration) return value;
  const nanos = typeof value === "string" ? parseGoDuration(value) : undefined;
  return nanos === undefined ? conversionError(value, "google.protobuf.Duration") : new Duration(nanos);
}

export function toTimestamp(value: Value): Result {
  if (value instanceof Timestamp) return value;
  if (typeof value === "bigint") return checkedTimestamp(value * nanosPerSecond);
  const time = typeof value === "string" ? parseTimestamp(value) : undefined;
  if (time === undefined) return conversionError(value, "google.protobuf.Timestamp");
  return checkedTimestamp(time.nanos, time.zoneMinutes);
}

export function toType(value: Value): Result {
  return typeOfValue(value);
}

/** Returns a value as error messages show it. */
export function displayText(value: Value): string {
  if (value instanceof Optional) {
    return value.content === undefined ? "optional.none()" : `optional(${displayText(value.content)})`;
  }
  if (value === null) return "NULL_VALUE";
  const text = toText(value);
  return typeof text === "string" ? text : typeText(typeOfValue(value));
}
