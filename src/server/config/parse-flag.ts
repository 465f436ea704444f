import { StartupError } from "../../process/startup-error.ts";
import type { Flag } from "./flag.ts";
import {
  type Parsed,
  parseBoolean,
  parseChoices,
  parseInteger,
  parseNonNegativeDuration,
  parseNumber,
  parseSwitches,
  parseTexts,
} from "./flag-values.ts";

/**
 * Parses one value of a command-line flag, in the unit of the options. Merges switches with earlier ones.
 * @throws StartupError that names the flag, the value and the expected form
 */
export function parseFlag(name: string, flag: Flag, text: string, previous: unknown): unknown {
  const parsed = parseByType(flag, text, previous);
  if (!parsed.ok) throw new StartupError(`--${name}: ${JSON.stringify(text)} is not ${parsed.wanted}`);
  return parsed.value;
}

function parseByType(flag: Flag, text: string, previous: unknown): Parsed<unknown> {
  switch (flag.type) {
    case "text":
      return text === "" ? { ok: false, wanted: "a value: give one or omit the flag" } : { ok: true, value: text };
    case "texts":
      return appended(parseTexts(text), previous);
    case "boolean":
      return parseBoolean(text);
    case "integer":
      return parseInteger(text, flag);
    case "number":
      return parseNumber(text, flag);
    case "seconds":
      return inMs(parseInteger(text, flag));
    case "duration":
      return parseNonNegativeDuration(text);
    case "choices":
      return parseChoices(text, flag.allowed);
    case "switches":
      return merged(parseSwitches(text, { bare: flag.bare }), previous);
  }
}

function inMs(seconds: Parsed<number>): Parsed<number> {
  return seconds.ok ? { ok: true, value: seconds.value * 1_000 } : seconds;
}

function appended(texts: Parsed<readonly string[]>, previous: unknown): Parsed<readonly string[]> {
  if (!texts.ok) return texts;
  return { ok: true, value: [...(Array.isArray(previous) ? (previous as string[]) : []), ...texts.value] };
}

function merged(switches: Parsed<ReadonlyMap<string, boolean>>, previous: unknown): Parsed<Record<string, boolean>> {
  if (!switches.ok) return switches;
  const before = typeof previous === "object" && previous !== null ? Object.entries(previous) : [];
  return { ok: true, value: Object.fromEntries([...before, ...switches.value]) };
}
