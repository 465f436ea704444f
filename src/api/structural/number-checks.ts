import { doubleText } from "../go-literal.ts";
import type { OpenApiSchema } from "./open-api-schema.ts";

const int64Min = -(2n ** 63n);
const int64Max = 2n ** 63n - 1n;
const [int32Min, int32Max] = [-(2 ** 31), 2 ** 31 - 1];
const floatMax = 3.4028235677973366e38;
/** Relative distance from a whole number below which a quotient counts as one. */
const epsilon = 1e-9;

/** Reports whether a number counts as an integer in upstream, which has 64 bits for them. */
export function isInteger(value: number | bigint): boolean {
  return typeof value === "bigint" ? value >= int64Min && value <= int64Max : Number.isSafeInteger(value);
}

/** Reports whether a whole number is small enough to be exact in JSON. */
export function isWholeDouble(value: number): boolean {
  if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER) return false;
  const whole = Math.trunc(value);
  if (value === whole) return true;
  const difference = Math.abs(value - whole);
  return difference / (Math.abs(value) + Math.abs(whole)) < epsilon;
}

/** A problem with a number. */
export interface NumberProblem {
  readonly message: (path: string) => string;
  /** Value to show; without one, the problem is reported at the root. */
  readonly shown?: number | bigint;
}

type NumberCheck = (value: number | bigint, report: (problem: NumberProblem) => void) => void;

/** Compiles the number checks of a schema; undefined if it has none. */
export function numberCheck(schema: OpenApiSchema, type: string | undefined): NumberCheck | undefined {
  const numeric = type === "integer" || type === "number" ? type : undefined;
  const range: Range = {
    type: numeric,
    format: numeric === undefined ? undefined : rangedFormat(schema.format, numeric),
  };
  const checks: NumberCheck[] = [];
  if (numeric === "integer" || range.format === "float") {
    checks.push((value, report) => {
      if (!isInRange(value, range)) report(rangeProblem("Checked", range));
    });
  }
  const add = (bound: number | undefined, subject: string, check: BoundCheck) => {
    if (bound !== undefined) checks.push(boundCheck(bound, subject, range, check));
  };
  add(schema.multipleOf, "MultipleOf", multipleProblem);
  add(schema.maximum, "Maximum boundary", (value, max) => {
    const isExclusive = schema.exclusiveMaximum === true;
    if (isExclusive ? value < max : value <= max) return undefined;
    return shownProblem(value, `should be less than ${isExclusive ? "" : "or equal to "}${numberText(max)}`);
  });
  add(schema.minimum, "Minimum boundary", (value, min) => {
    const isExclusive = schema.exclusiveMinimum === true;
    if (isExclusive ? value > min : value >= min) return undefined;
    return shownProblem(value, `should be greater than ${isExclusive ? "" : "or equal to "}${numberText(min)}`);
  });
  if (checks.length === 0) return undefined;
  return (value, report) => {
    for (const check of checks) check(value, report);
  };
}

/** @param bound a bigint where integers are compared with a bound whose fraction was cut off */
type BoundCheck = (value: number | bigint, bound: number | bigint) => NumberProblem | undefined;

function boundCheck(bound: number, subject: string, range: Range, check: BoundCheck): NumberCheck {
  const isFitting = isInRange(bound, range);
  const whole = Number.isFinite(bound) ? BigInt(Math.trunc(bound)) : 0n;
  return (value, report) => {
    if (!isFitting) report(rangeProblem(subject, range));
    const problem = check(value, isFitting && isInteger(value) ? whole : bound);
    if (problem !== undefined) report(problem);
  };
}

interface Range {
  readonly type: "integer" | "number" | undefined;
  readonly format: string | undefined;
}

function rangeProblem(subject: string, { type, format }: Range): NumberProblem {
  const shown = format === undefined ? "(default format)" : `with format ${format}`;
  return { message: (path) => `${subject} value must be of type ${type} ${shown} in ${path}` };
}

function shownProblem(shown: number | bigint, detail: string): NumberProblem {
  return { message: (path) => `${path} in body ${detail}`, shown };
}

function rangedFormat(format: string | undefined, type: string): string | undefined {
  const known = type === "integer" ? ["int32", "int64"] : ["float", "double"];
  return format !== undefined && known.includes(format) ? format : undefined;
}

function isInRange(value: number | bigint, { type, format }: Range): boolean {
  if (type === "integer") {
    const isWhole = isInteger(value) || (Number.isInteger(Number(value)) && Math.abs(Number(value)) < 2 ** 63);
    return isWhole && (format !== "int32" || (value >= int32Min && value <= int32Max));
  }
  return format !== "float" || Math.abs(Number(value)) < floatMax;
}

function numberText(value: number | bigint): string {
  return typeof value === "bigint" ? String(value) : doubleText(value);
}

function multipleProblem(value: number | bigint, factor: number | bigint): NumberProblem | undefined {
  if (factor <= 0) {
    const positive = `must be positive: ${numberText(factor)}`;
    return { message: (path) => `factor MultipleOf declared for ${path} ${positive}`, shown: factor };
  }
  const problem = () => shownProblem(value, `should be a multiple of ${numberText(factor)}`);
  if (typeof factor === "bigint") return BigInt(value) % factor === 0n ? undefined : problem();
  const number = Number(value);
  return isWholeDouble(factor < 1 ? (1 / factor) * number : number / factor) ? undefined : problem();
}
