/**
 * Notation of a quantity: `Ki` `Mi` …, `k` `M` `m` …, or `e3`. Parsing keeps it, so that formatting preserves the
 * style.
 */
export type QuantityFormat = "binarySI" | "decimalSI" | "decimalExponent";

/** An exact amount, in steps of 10⁻⁹. */
export interface Quantity {
  /** Amount times 10⁹. */
  readonly nanos: bigint;
  readonly format: QuantityFormat;
}

/** Thrown for malformed quantities. Messages are upstream's: they reach clients inside decode errors. */
export class QuantityError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "QuantityError";
  }
}

/** Longer text is rejected; the longest useful quantity, 2⁶³ with nine decimals, has 29 characters. */
export const maxQuantityLength = 256;
/** Greatest decimal exponent that is computed; bounds the size of the numbers. */
export const maxQuantityExponent = 256;

/** Quantities are exact to a billionth. */
export const nanosPerUnit = 10n ** 9n;
const maxBinaryNanos = (2n ** 63n - 1n) * nanosPerUnit;

const formatMessage = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const numberMessage = "unable to parse numeric part of quantity";
const suffixMessage = "unable to parse quantity's suffix";

/** Powers of ten by suffix. */
export const decimalExponents: ReadonlyMap<string, number> = new Map([
  ["n", -9],
  ["u", -6],
  ["m", -3],
  ["", 0],
  ["k", 3],
  ["M", 6],
  ["G", 9],
  ["T", 12],
  ["P", 15],
  ["E", 18],
]);
const decimalSuffixes: ReadonlyMap<number, string> = new Map(
  [...decimalExponents].map(([suffix, exponent]) => [exponent, suffix]),
);
/** Suffixes by power of 1024. */
export const binarySuffixes = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"] as const;

/**
 * Matches most quantities in use: up to three digits, which cannot be shortened, and a suffix that cannot exceed the
 * maximum.
 */
const canonicalAlready = /^(?:0|[1-9]\d{0,2}(?:[numkMGTP]|[KMGTP]i)?)$/;

interface Suffix {
  readonly factor: bigint;
  readonly divisor: bigint;
  readonly format: QuantityFormat;
}

/** Number of quantities that are remembered before all of them are forgotten. */
const knownMax = 1_000;
/** Quantities by their texts. Objects use few different ones, and the rules of a pod read each several times. */
const known = new Map<string, Quantity>();

/**
 * Parses `1.5Gi`, `500m`, `1e3`. Fractions below 10⁻⁹ are rounded away from zero.
 * @throws QuantityError
 */
export function parseQuantity(text: string): Quantity {
  let quantity = known.get(text);
  if (quantity !== undefined) return quantity;
  quantity = readQuantity(text);
  if (known.size === knownMax) known.clear();
  known.set(text, quantity);
  return quantity;
}

function readQuantity(text: string): Quantity {
  if (text.length === 0 || text.length > maxQuantityLength) throw new QuantityError(formatMessage);
  const negative = text[0] === "-";
  let at = negative || text[0] === "+" ? 1 : 0;
  const wholeStart = at;
  while (isDigit(text.charCodeAt(at))) at++;
  const whole = text.slice(wholeStart, at);
  let fraction = "";
  if (text[at] === ".") {
    const fractionStart = ++at;
    while (isDigit(text.charCodeAt(at))) at++;
    fraction = text.slice(fractionStart, at);
  }
  const suffixText = text.slice(at);
  if (!hasSuffixShape(suffixText)) throw new QuantityError(formatMessage);
  if (whole === "" && fraction === "") {
    throw new QuantityError(text.includes(".") ? numberMessage : formatMessage);
  }
  const suffix = parseSuffix(suffixText);
  let nanos = roundUp(
    BigInt(whole + fraction) * suffix.factor * nanosPerUnit,
    suffix.divisor * 10n ** BigInt(fraction.length),
  );
  if (suffix.format === "binarySI" && nanos > maxBinaryNanos) nanos = maxBinaryNanos;
  return { nanos: negative ? -nanos : nanos, format: suffix.format };
}

/** Formats an amount canonically: `1000m` becomes `1`, `1024Mi` becomes `1Gi`, `0.5` becomes `500m`. */
export function formatQuantity({ nanos, format }: Quantity): string {
  if (nanos === 0n) return "0";
  const isSmall = nanos > -1024n * nanosPerUnit && nanos < 1024n * nanosPerUnit;
  if (format === "binarySI" && !isSmall && nanos % nanosPerUnit === 0n) return formatBinary(nanos / nanosPerUnit);
  return formatDecimal(nanos, format === "decimalExponent");
}

/**
 * Converts any accepted spelling to the canonical one.
 * @throws QuantityError
 */
export function canonicalQuantity(text: string): string {
  if (canonicalAlready.test(text)) return text;
  return formatQuantity(parseQuantity(text));
}

/** Returns -1, 0 or 1 as `a` is less than, equal to or greater than `b`. */
export function compareQuantities(a: Quantity, b: Quantity): -1 | 0 | 1 {
  if (a.nanos === b.nanos) return 0;
  return a.nanos < b.nanos ? -1 : 1;
}

/** Returns the sum, in the format of the first summand unless that is zero. */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  return { nanos: a.nanos + b.nanos, format: a.nanos === 0n ? b.format : a.format };
}

/** Rounds away from zero to whole thousandths, the precision of resource amounts. */
export function roundUpToMilli({ nanos, format }: Quantity): Quantity {
  const step = 1_000_000n;
  const rounded = nanos < 0n ? -roundUp(-nanos, step) : roundUp(nanos, step);
  return { nanos: rounded * step, format };
}

function parseSuffix(text: string): Suffix {
  const decimal = decimalExponents.get(text);
  if (decimal !== undefined) return decimalSuffix(decimal, "decimalSI");
  const power = binarySuffixes.indexOf(text as (typeof binarySuffixes)[number]);
  if (power > 0) return { factor: 1024n ** BigInt(power), divisor: 1n, format: "binarySI" };
  if (text.length > 1 && (text[0] === "e" || text[0] === "E")) {
    const exponent = Number(text.slice(1));
    if (!Number.isInteger(exponent) || Math.abs(exponent) > maxQuantityExponent) throw new QuantityError(suffixMessage);
    return decimalSuffix(exponent, "decimalExponent");
  }
  throw new QuantityError(suffixMessage);
}

function decimalSuffix(exponent: number, format: QuantityFormat): Suffix {
  const power = 10n ** BigInt(Math.abs(exponent));
  return exponent < 0 ? { factor: 1n, divisor: power, format } : { factor: power, divisor: 1n, format };
}

/**
 * Reports whether a suffix consists of known letters, then a sign, then digits. Their meaning is checked later, with
 * another error.
 */
function hasSuffixShape(text: string): boolean {
  let at = 0;
  while (at < text.length && "eEinumkKMGTP".includes(text[at] as string)) at++;
  if (text[at] === "+" || text[at] === "-") at++;
  while (isDigit(text.charCodeAt(at))) at++;
  return at === text.length;
}

function formatBinary(units: bigint): string {
  let power = 0;
  while (power < binarySuffixes.length - 1 && units % 1024n === 0n) {
    units /= 1024n;
    power++;
  }
  return `${units}${binarySuffixes[power]}`;
}

/** Formats with the greatest exponent divisible by three that leaves a whole number in front of it. */
function formatDecimal(nanos: bigint, asExponent: boolean): string {
  let exponent = -9;
  while ((asExponent || exponent < 18) && nanos % 1000n === 0n) {
    nanos /= 1000n;
    exponent += 3;
  }
  if (!asExponent) return `${nanos}${decimalSuffixes.get(exponent)}`;
  return exponent === 0 ? `${nanos}` : `${nanos}e${exponent}`;
}

function roundUp(numerator: bigint, divisor: bigint): bigint {
  return (numerator + divisor - 1n) / divisor;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}
