import { parseNumber } from "./json.ts";

/** Value of a plain scalar in YAML 1.1, as Kubernetes' clients and servers read it. */
export type PlainScalar = string | number | bigint | boolean | null;

const words: ReadonlyMap<string, boolean | null> = new Map<string, boolean | null>([
  ["", null],
  ["~", null],
  ...["null", "Null", "NULL"].map((word) => [word, null] as const),
  ...["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"].map((word) => [word, true] as const),
  ...["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"].map((word) => [word, false] as const),
]);
/** Spellings of numbers that JSON cannot represent. */
const unsupportedNumbers: ReadonlySet<string> = new Set([
  ".nan",
  ".NaN",
  ".NAN",
  ...["", "+", "-"].flatMap((sign) => [".inf", ".Inf", ".INF"].map((word) => sign + word)),
]);
const decimalInteger = /^[-+]?(?:0|[1-9]\d*)$/;
const radixInteger = /^([-+]?)0([xXoObB]?)([0-9a-fA-F]+)$/;
const float = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/;
const startsNumber = /^[-+.\d]/;
/** Limit of the digits of an integer that is not decimal: 64 binary ones, with some room for leading zeros. */
const radixDigitsMax = 128;

/**
 * Resolves a plain scalar: y/yes/on and n/no/off are booleans, `0777`, `0o777`, `0x1f` and `0b1` are integers, `_` may
 * separate digits, and dates stay text. Returns undefined for infinities and NaN.
 */
export function resolvePlainScalar(text: string): PlainScalar | undefined {
  const word = words.get(text);
  if (word !== undefined) return word;
  if (unsupportedNumbers.has(text)) return undefined;
  if (!startsNumber.test(text)) return text;
  const digits = text.replaceAll("_", "");
  const integer = text.startsWith(".") ? undefined : resolveInteger(digits);
  if (integer !== undefined) return integer;
  if (!float.test(digits)) return text;
  const value = Number(digits);
  return Number.isFinite(value) ? value : text;
}

function resolveInteger(digits: string): number | bigint | undefined {
  if (decimalInteger.test(digits)) {
    const unsigned = digits.startsWith("+") ? digits.slice(1) : digits;
    const value = parseNumber(unsigned, true);
    return Object.is(value, -0) ? 0 : typeof value === "number" && !Number.isFinite(value) ? undefined : value;
  }
  const match = radixInteger.exec(digits);
  if (match === null || digits.length > radixDigitsMax) return undefined;
  const [, sign = "", letter = "", body = ""] = match;
  const prefix = { x: "0x", o: "0o", b: "0b", "": "0o" }[letter.toLowerCase()] as string;
  let value: bigint;
  try {
    value = BigInt(prefix + body);
  } catch {
    return undefined;
  }
  return fit(sign === "-" ? -value : value);
}

/** Returns an integer as a number if that is exact, else as a bigint; undefined if 64 bits do not hold it. */
function fit(value: bigint): number | bigint | undefined {
  if (value < -(2n ** 63n) || value >= 2n ** 64n) return undefined;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
