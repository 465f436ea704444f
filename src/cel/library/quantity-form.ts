import { binarySuffixes, decimalExponents } from "../../api/quantity.ts";

/**
 * The form in which upstream holds an amount: a 64-bit number of powers of ten or, for one that is too large or too fine,
 * a decimal. A decimal is not an integer, even if it is whole. Nor is a number with a scale below zero.
 */
export interface QuantityForm {
  readonly amount: Amount | undefined;
  /** Whether the amount is shown in its original form. */
  readonly keepsText: boolean;
}

interface Amount {
  readonly value: bigint;
  readonly scale: number;
}

const signedMin = -(2n ** 63n);
const signedMax = 2n ** 63n - 1n;
/** Amounts with more digits are decimals. */
const decimalDigitsMax = 18;
const binaryDigitsMax = 15;
const scaleMin = -9;
const decimalForm: QuantityForm = { amount: undefined, keepsText: false };
const binaryExponents: ReadonlyMap<string, number> = new Map(
  binarySuffixes.map((suffix, power) => [suffix, 10 * power] as const).filter(([suffix]) => suffix !== ""),
);

/** Returns the form of a text that is a quantity. */
export function readForm(text: string): QuantityForm {
  if (text === "0") return { amount: { value: 0n, scale: 0 }, keepsText: true };
  const match = /^([+-]?)0*(\d*)(?:\.(\d*))?(.*)$/.exec(text);
  if (match === null) return decimalForm;
  const [, sign, digits = "", fraction = "", suffix = ""] = match;
  const whole = digits === "" ? "0" : digits;
  const binary = binaryExponents.get(suffix);
  const form =
    binary === undefined ? decimalAmount(whole, fraction, exponentOf(suffix)) : binaryAmount(whole, fraction, binary);
  if (form.amount === undefined || sign !== "-") return form;
  return { ...form, amount: { ...form.amount, value: -form.amount.value } };
}

function exponentOf(suffix: string): number {
  return decimalExponents.get(suffix) ?? Number(suffix.slice(1));
}

function decimalAmount(whole: string, fraction: string, exponent: number): QuantityForm {
  const digits = whole + fraction;
  const scale = exponent - fraction.length;
  if (digits.length > decimalDigitsMax || scale < scaleMin) return decimalForm;
  const keepsText = scale % 3 === 0 && !digits.endsWith("000") && !digits.startsWith("0");
  return { amount: { value: BigInt(digits), scale }, keepsText };
}

function binaryAmount(whole: string, fraction: string, exponent: number): QuantityForm {
  const precision = binaryDigitsMax - whole.length - Math.trunc((exponent * 3) / 10) - 1;
  if (fraction !== "" || precision < 0) return decimalForm;
  const units = BigInt(whole);
  const value = units << BigInt(exponent);
  return value > signedMax ? decimalForm : { amount: { value, scale: 0 }, keepsText: (units & 7n) !== 0n };
}

/** Returns the whole number that an amount is held as. */
export function integerOf({ amount }: QuantityForm): bigint | undefined {
  if (amount === undefined || amount.scale < 0) return undefined;
  return fitting(amount.value * 10n ** BigInt(Math.min(amount.scale, 20)));
}

function fitting(value: bigint): bigint | undefined {
  return value >= signedMin && value <= signedMax ? value : undefined;
}

/** Returns the form of a sum, where the second summand counts `factor` times. */
export function addForms(a: QuantityForm, b: QuantityForm, factor: bigint): QuantityForm {
  if (a.amount === undefined || b.amount === undefined) return decimalForm;
  const second = { ...b.amount, value: b.amount.value * factor };
  if (second.value === 0n) return { amount: a.amount, keepsText: false };
  if (a.amount.value === 0n) return { amount: second, keepsText: false };
  const scale = Math.min(a.amount.scale, second.scale);
  const left = scaled(a.amount, scale);
  const right = scaled(second, scale);
  const sum = left === undefined || right === undefined ? undefined : fitting(left + right);
  return sum === undefined ? decimalForm : { amount: { value: sum, scale }, keepsText: false };
}

function scaled({ value, scale }: Amount, to: number): bigint | undefined {
  return scale - to > 20 ? undefined : fitting(value * 10n ** BigInt(scale - to));
}
