import { quoteTimeText } from "./go-time-quote.ts";
import { shortened } from "./shortened.ts";

/** Length of the longest duration text that is parsed. */
const maxDurationLength = 128;
const maxNanos = 2n ** 63n - 1n;

const nanosOf: ReadonlyMap<string, bigint> = new Map([
  ["ns", 1n],
  ["us", 1_000n],
  ["µs", 1_000n],
  ["μs", 1_000n],
  ["ms", 1_000_000n],
  ["s", 1_000_000_000n],
  ["m", 60_000_000_000n],
  ["h", 3_600_000_000_000n],
]);
const second = 1_000_000_000n;

/**
 * Converts a Go duration such as `90m` to the form that Go prints (`1h30m0s`).
 * @throws Error in Go's words
 */
export function normalizeDuration(text: string): string {
  return formatGoDuration(parseDuration(text));
}

/** Parses a Go duration, or returns undefined for a text that is malformed or does not fit 64 bits. */
export function parseGoDuration(text: string): bigint | undefined {
  try {
    return parseDuration(text);
  } catch {
    return undefined;
  }
}

/**
 * Parses a Go duration such as `1h30m` or `-1.5s` to nanoseconds.
 * @throws Error in Go's words
 */
export function parseDuration(text: string): bigint {
  const invalid = () => new Error(`time: invalid duration ${quoteTimeText(shortened(text))}`);
  if (text.length > maxDurationLength) throw invalid();
  const negative = text[0] === "-";
  let at = negative || text[0] === "+" ? 1 : 0;
  if (text.slice(at) === "0") return 0n;
  if (at === text.length) throw invalid();
  let nanos = 0n;
  while (at < text.length) {
    const whole = digitsFrom(text, at);
    at += whole.length;
    const hasPoint = text[at] === ".";
    const fraction = hasPoint ? digitsFrom(text, at + 1) : "";
    if (hasPoint) at += 1 + fraction.length;
    if (whole === "" && fraction === "") throw invalid();
    const unit = unitFrom(text, at);
    if (unit === "") throw new Error(`time: missing unit in duration ${quoteTimeText(text)}`);
    const perUnit = nanosOf.get(unit);
    if (perUnit === undefined) {
      throw new Error(`time: unknown unit ${quoteTimeText(unit)} in duration ${quoteTimeText(text)}`);
    }
    at += unit.length;
    nanos += (BigInt(whole + fraction) * perUnit) / 10n ** BigInt(fraction.length);
    if (nanos > maxNanos) throw invalid();
  }
  return negative ? -nanos : nanos;
}

/** Formats a duration as Go prints it: `1h30m0s`, `1.5s`, `200ms`, `0s`. */
export function formatGoDuration(nanos: bigint): string {
  if (nanos === 0n) return "0s";
  const sign = nanos < 0n ? "-" : "";
  const size = nanos < 0n ? -nanos : nanos;
  if (size < 1_000n) return `${sign}${size}ns`;
  if (size < 1_000_000n) return `${sign}${decimal(size, 1_000n)}µs`;
  if (size < second) return `${sign}${decimal(size, 1_000_000n)}ms`;
  const minutes = size / (60n * second);
  const seconds = `${decimal(size % (60n * second), second)}s`;
  if (minutes === 0n) return `${sign}${seconds}`;
  const hours = minutes / 60n;
  return hours === 0n ? `${sign}${minutes}m${seconds}` : `${sign}${hours}h${minutes % 60n}m${seconds}`;
}

function decimal(value: bigint, unit: bigint): string {
  const whole = value / unit;
  const rest = value % unit;
  if (rest === 0n) return `${whole}`;
  let digits = rest.toString().padStart(unit.toString().length - 1, "0");
  while (digits.endsWith("0")) digits = digits.slice(0, -1);
  return `${whole}.${digits}`;
}

function digitsFrom(text: string, start: number): string {
  let at = start;
  while (at < text.length && isDigit(text[at] as string)) at++;
  return text.slice(start, at);
}

function unitFrom(text: string, start: number): string {
  let at = start;
  while (at < text.length && text[at] !== "." && !isDigit(text[at] as string)) at++;
  return text.slice(start, at);
}

function isDigit(character: string): boolean {
  return character >= "0" && character <= "9";
}
