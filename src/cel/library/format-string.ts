import { quoteText } from "../../api/go-literal.ts";
import { spendWork } from "../limits.ts";
import { displayText, parseDouble, toText } from "../values/conversion.ts";
import { itemsOf } from "../values/lists.ts";
import { entriesOf } from "../values/maps.ts";
import {
  EvaluationError,
  isError,
  List,
  type Result,
  typeOfValue,
  Uint,
  type Value,
  ValueMap,
} from "../values/value.ts";

/** How an argument is to be written. */
export type Verb = "s" | "d" | "f" | "e" | "b" | "x" | "X" | "o";

/** A problem of a format or of one of its arguments. */
export class FormatError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "FormatError";
  }
}

/** A part of a format: literal text, or a place for an argument. */
type Piece = string | { readonly verb: Verb; readonly precision: number | undefined };

const defaultPrecision = 6;
/** More decimals are refused; a format must not fill the memory. */
const precisionMax = 1_000_000;
const charactersPerWorkStep = 16;

const refusals: Readonly<Record<Verb, string>> = {
  s: "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps",
  d: "decimal clause can only be used on integers",
  f: "fixed-point clause can only be used on doubles",
  e: "scientific clause can only be used on doubles",
  b: "only integers and bools can be formatted as binary",
  x: "only integers, byte buffers, and strings can be formatted as hex",
  X: "only integers, byte buffers, and strings can be formatted as hex",
  o: "octal clause can only be used on integers",
};

export function verbRefusal(verb: Verb, typeName: string): string {
  return `error during formatting: ${refusals[verb]}, was given ${typeName}`;
}

/**
 * Reads a format piece by piece. Calls `hasArgument` before each place for an argument.
 * @throws FormatError
 */
export function* formatPieces(format: string, hasArgument: (index: number) => boolean): Generator<Piece> {
  let at = 0;
  let index = 0;
  while (at < format.length) {
    const percent = format.indexOf("%", at);
    if (percent !== at) {
      yield format.slice(at, percent < 0 ? undefined : percent);
      if (percent < 0) return;
    }
    at = percent + 1;
    if (format.charAt(at) === "%") {
      yield "%";
      at++;
      continue;
    }
    if (!hasArgument(index)) throw new FormatError(`index ${index} out of range`);
    if (at >= format.length) throw new FormatError("unexpected end of string");
    const { piece, length } = readClause(format.slice(at));
    yield piece;
    at += length;
    index++;
  }
}

function readClause(text: string): { readonly piece: Exclude<Piece, string>; readonly length: number } {
  let at = 0;
  let precision: number | undefined;
  if (text.startsWith(".")) {
    const digits = /^\d*/.exec(text.slice(1))?.[0] ?? "";
    at = 1 + digits.length;
    if (at >= text.length)
      throw clauseError("error while parsing precision: could not find end of precision specifier");
    precision = readPrecision(digits);
  }
  const verb = text.charAt(at);
  if (!isVerb(verb)) throw clauseError(`unrecognized formatting clause "${verb}"`);
  return { piece: { verb, precision }, length: at + 1 };
}

function clauseError(problem: string): FormatError {
  return new FormatError(`could not parse formatting clause: ${problem}`);
}

function readPrecision(digits: string): number {
  const prefix = "error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing";
  if (digits === "") throw clauseError(`${prefix} "": invalid syntax`);
  const precision = Number(digits);
  if (precision > precisionMax) throw clauseError(`${prefix} "${digits}": value out of range`);
  return precision;
}

function isVerb(text: string): text is Verb {
  return text.length === 1 && "sdfebxXo".includes(text);
}

/** Writes the arguments into the format. */
export function formatText(format: string, args: List): Result {
  try {
    let text = "";
    let index = 0;
    for (const piece of formatPieces(format, (at) => at < args.size)) {
      const part = typeof piece === "string" ? piece : formatArgument(args.at(index++), piece);
      spendWork(1 + part.length / charactersPerWorkStep);
      text += part;
    }
    return text;
  } catch (error) {
    if (error instanceof FormatError) return new EvaluationError(error.message);
    throw error;
  }
}

function formatArgument(arg: Result, { verb, precision = defaultPrecision }: Exclude<Piece, string>): string {
  if (isError(arg)) throw new FormatError(`error during formatting: ${arg.message}`);
  const text = writers[verb](arg, precision);
  if (text === undefined) throw new FormatError(verbRefusal(verb, typeOfValue(arg).name));
  return text;
}

const writers: Readonly<Record<Verb, (value: Value, precision: number) => string | undefined>> = {
  s: (value) => textOf(value),
  d: (value) => integerText(value, 10),
  f: (value, precision) => fixedText(value, precision),
  e: (value, precision) => scientificText(value, precision),
  b: (value) => (typeof value === "boolean" ? String(Number(value)) : integerText(value, 2)),
  x: hexText,
  X: (value) => hexText(value)?.toUpperCase(),
  o: (value) => integerText(value, 8),
};

function integerText(value: Value, radix: number): string | undefined {
  if (typeof value === "bigint") return value.toString(radix);
  return value instanceof Uint ? value.value.toString(radix) : undefined;
}

function hexText(value: Value): string | undefined {
  if (typeof value === "string") return Buffer.from(value).toString("hex");
  return value instanceof Uint8Array ? Buffer.from(value).toString("hex") : integerText(value, 16);
}

const specialTexts: ReadonlySet<string> = new Set(["NaN", "Infinity", "-Infinity"]);

function numberOf(value: Value): number | undefined {
  if (typeof value === "number") return value;
  return typeof value === "string" && specialTexts.has(value) ? parseDouble(value) : undefined;
}

function specialText(value: number): string | undefined {
  if (Number.isNaN(value)) return "NaN";
  return Number.isFinite(value) ? undefined : value > 0 ? "∞" : "-∞";
}

function fixedText(value: Value, precision: number): string | undefined {
  const number = numberOf(value);
  if (number === undefined) return undefined;
  // Upstream keeps one byte of the precision.
  return specialText(number) ?? grouped(exactDecimal(number, precision & 0xff));
}

/** Puts a comma between thousands, as English does. */
function grouped(text: string): string {
  const [whole = "", fraction] = text.split(".");
  const separated = whole.replace(/\B(?=(?:\d{3})+$)/g, ",");
  return fraction === undefined ? separated : `${separated}.${fraction}`;
}

/** Rounds the exact value of a double, half to even. */
function exactDecimal(value: number, precision: number): string {
  const { numerator, denominator } = exactFraction(Math.abs(value));
  const scaled = numerator * 10n ** BigInt(precision);
  let quotient = scaled / denominator;
  const twice = (scaled % denominator) * 2n;
  if (twice > denominator || (twice === denominator && quotient % 2n === 1n)) quotient++;
  const digits = String(quotient).padStart(precision + 1, "0");
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  if (precision === 0) return `${sign}${digits}`;
  return `${sign}${digits.slice(0, -precision)}.${digits.slice(-precision)}`;
}

function exactFraction(value: number): { readonly numerator: bigint; readonly denominator: bigint } {
  let scaled = value;
  let denominator = 1n;
  while (!Number.isInteger(scaled)) {
    scaled *= 2;
    denominator *= 2n;
  }
  return { numerator: BigInt(scaled), denominator };
}

const superscripts = ["⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"] as const;

/** Writes `1.5×10⁰³`, as upstream's printer does for English. */
function scientificText(value: Value, width: number): string | undefined {
  const number = numberOf(value);
  if (number === undefined) return undefined;
  // Upstream takes the precision for a width.
  const special = specialText(number);
  if (special !== undefined) return special.padStart(width);
  const [mantissa = "", exponent = "0"] = number.toExponential(defaultPrecision).split("e");
  const sign = exponent.startsWith("-") ? "⁻" : "";
  const digits = exponent.replace(/^[+-]/, "").padStart(2, "0");
  const raised = [...digits].map((digit) => superscripts[Number(digit)] ?? "").join("");
  return `${Object.is(number, -0) ? "-" : ""}${mantissa}×10${sign}${raised}`.padStart(width);
}

/** Returns a value as `%s` writes it; undefined if it cannot be written. */
function textOf(value: Value): string | undefined {
  if (value instanceof List) return listText(value);
  if (value instanceof ValueMap) return mapText(value);
  const { kind } = typeOfValue(value);
  if (kind === "opaque" || kind === "struct") return undefined;
  const text = toText(value);
  if (isError(text))
    throw new FormatError(`error during formatting: could not convert argument ${quoteText(text.message)} to string`);
  return typeof text === "string" ? text : undefined;
}

function listText(list: List): string {
  const parts: string[] = [];
  for (const item of itemsOf(list)) parts.push(elementText(item));
  return `[${parts.join(", ")}]`;
}

function mapText(map: ValueMap): string {
  const pairs: (readonly [key: string, value: string])[] = [];
  for (const [key, value] of entriesOf(map)) {
    const { name } = typeOfValue(key);
    const isKey = typeof key === "string" || typeof key === "boolean" || typeof key === "bigint" || key instanceof Uint;
    if (!isKey) throw new FormatError(`error during formatting: no formatting function for map key of type ${name}`);
    pairs.push([elementText(key), elementText(value)]);
  }
  pairs.sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return `{${pairs.map(([key, value]) => `${key}:${value}`).join(", ")}}`;
}

/** Returns an element of a list or a map as a literal would write it. */
function elementText(value: Result): string {
  spendWork(1);
  if (isError(value)) throw new FormatError(`error during formatting: no formatting function for error`);
  if (typeof value === "string") return quoteText(value);
  if (typeof value === "number") {
    if (Number.isFinite(value)) return exactDecimal(value, defaultPrecision);
    return quoteText(Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf");
  }
  if (value instanceof Uint8Array) return `b${quoteText(new TextDecoder().decode(value))}`;
  const { kind, name } = typeOfValue(value);
  if (kind === "timestamp" || kind === "duration") return `${kind}(${quoteText(displayText(value))})`;
  const text = textOf(value);
  if (text === undefined) throw new FormatError(`error during formatting: no formatting function for ${name}`);
  return text;
}
