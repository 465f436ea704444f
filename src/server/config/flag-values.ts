import { parseDurationMs } from "./duration.ts";

/** The value of a command-line text, or the expected form. */
export type Parsed<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly wanted: string };

const booleans: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["1", true],
  ["t", true],
  ["false", false],
  ["0", false],
  ["f", false],
]);

export function parseBoolean(text: string): Parsed<boolean> {
  const value = booleans.get(text.toLowerCase());
  return value === undefined ? wanted("true or false") : { ok: true, value };
}

/** Parses a decimal integer from `min` to `max`, inclusive. */
export function parseInteger(text: string, { min, max }: { min: number; max: number }): Parsed<number> {
  const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max ? { ok: true, value } : wanted(`an integer from ${min} to ${max}`);
}

/** Parses a decimal number from `min` to `max`, inclusive, that may have a fraction. */
export function parseNumber(text: string, { min, max }: { min: number; max: number }): Parsed<number> {
  const value = /^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max ? { ok: true, value } : wanted(`a number from ${min} to ${max}`);
}

/** Parses a duration of zero or more into milliseconds. */
export function parseNonNegativeDuration(text: string): Parsed<number> {
  const value = parseDurationMs(text);
  return value !== undefined && value >= 0 ? { ok: true, value } : wanted("a duration such as 5s or 1m30s");
}

/** Parses a comma-separated list of values from `allowed`. */
export function parseChoices(text: string, allowed: readonly string[]): Parsed<readonly string[]> {
  const values = text.split(",").map((value) => value.trim());
  return values.every((value) => allowed.includes(value))
    ? { ok: true, value: values }
    : wanted(`a comma-separated list of ${allowed.join(", ")}`);
}

/** Parses a comma-separated list of non-empty texts. */
export function parseTexts(text: string): Parsed<readonly string[]> {
  const values = text.split(",").map((value) => value.trim());
  return values.includes("") ? wanted("a comma-separated list without empty parts") : { ok: true, value: values };
}

/** Parses `A=true,B=false`. `bare` is the value of a key without `=`, or undefined to require one. Later keys win. */
export function parseSwitches(
  text: string,
  { bare }: { bare: boolean | undefined },
): Parsed<ReadonlyMap<string, boolean>> {
  const switches = new Map<string, boolean>();
  for (const pair of text.split(",")) {
    const trimmed = pair.trim();
    if (trimmed === "") continue;
    const at = trimmed.indexOf("=");
    const key = at < 0 ? trimmed : trimmed.slice(0, at);
    const value = at < 0 ? bare : booleans.get(trimmed.slice(at + 1).toLowerCase());
    if (value === undefined || key === "") return wanted("a comma-separated list of <key>=true and <key>=false");
    switches.set(key, value);
  }
  return { ok: true, value: switches };
}

function wanted(text: string): { readonly ok: false; readonly wanted: string } {
  return { ok: false, wanted: text };
}
