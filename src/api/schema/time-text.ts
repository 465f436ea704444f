import { shortened } from "../shortened.ts";
import { timeErrorText } from "./time-error.ts";

/** Zero of Go's time type, which means "not set" and is written as null. */
const zeroSeconds = "0001-01-01T00:00:00Z";
const zeroMicros = "0001-01-01T00:00:00.000000Z";

/** Length of the longest text that is parsed; only nine digits of a fraction count. */
const maxTimeLength = 64;

interface ParsedTime {
  /** Milliseconds since the epoch of the whole second. */
  readonly secondMs: number;
  /** Digits behind the decimal point, "" for none. */
  readonly fraction: string;
}

/** Parses RFC 3339 text to milliseconds since the epoch, without the fraction; undefined if it is malformed. */
export function parseTimeMs(text: string): number | undefined {
  return parseRfc3339(text)?.secondMs;
}

/**
 * Converts RFC 3339 of any zone to UTC in whole seconds, cutting off the fraction. Returns undefined for the zero time.
 * @throws Error in Go's words when the text is not a time
 */
export function normalizeTime(text: string): string | undefined {
  if (isNormal(text)) return text;
  const parsed = parseRfc3339(text);
  if (parsed === undefined) throw parseError(text, "");
  const normal = `${new Date(parsed.secondMs).toISOString().slice(0, 19)}Z`;
  return normal === zeroSeconds ? undefined : normal;
}

/** Reports whether the text is already normal, as most are. */
function isNormal(text: string): boolean {
  return (
    text.length === zeroSeconds.length && text.endsWith("Z") && text !== zeroSeconds && clockTimeOf(text) !== undefined
  );
}

/**
 * Converts RFC 3339 with exactly six digits of fraction to UTC. Returns undefined for the zero time.
 * @throws Error in Go's words when the text is not such a time
 */
export function normalizeMicroTime(text: string): string | undefined {
  const parsed = parseRfc3339(text);
  if (parsed === undefined || parsed.fraction.length !== 6) throw parseError(text, ".000000");
  const normal = `${new Date(parsed.secondMs).toISOString().slice(0, 19)}.${parsed.fraction}Z`;
  return normal === zeroMicros ? undefined : normal;
}

function parseError(text: string, fraction: "" | ".000000"): Error {
  return new Error(timeErrorText(shortened(text), fraction));
}

interface ClockTime {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

/** Reads `yyyy-mm-ddThh:mm:ss` at the start of the text; undefined if it is malformed or the day does not exist. */
function clockTimeOf(text: string): ClockTime | undefined {
  if (text[4] !== "-" || text[7] !== "-" || text[10] !== "T" || text[13] !== ":" || text[16] !== ":") return undefined;
  const year = digitsAt(text, 0, 4);
  const month = digitsAt(text, 5, 2);
  const day = digitsAt(text, 8, 2);
  const hour = digitsAt(text, 11, 2);
  const minute = digitsAt(text, 14, 2);
  const second = digitsAt(text, 17, 2);
  if (year < 0 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined;
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return undefined;
  return { year, month, day, hour, minute, second };
}

function parseRfc3339(text: string): ParsedTime | undefined {
  if (text.length < 20 || text.length > maxTimeLength) return undefined;
  const clock = clockTimeOf(text);
  if (clock === undefined) return undefined;
  let at = 19;
  if (text[at] === ".") {
    at++;
    while (isDigit(text.charCodeAt(at))) at++;
    if (at === 20) return undefined;
  }
  const offsetMinutes = zoneAt(text, at);
  if (offsetMinutes === undefined) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(clock.year, clock.month - 1, clock.day);
  date.setUTCHours(clock.hour, clock.minute - offsetMinutes, clock.second);
  const isOutside = date.getUTCFullYear() < 0 || date.getUTCFullYear() > 9999;
  return isOutside ? undefined : { secondMs: date.getTime(), fraction: text.slice(20, Math.max(20, at)) };
}

/** Returns the minutes east of UTC of the `Z` or `+hh:mm` that must end the text. */
function zoneAt(text: string, at: number): number | undefined {
  if (text[at] === "Z") return at + 1 === text.length ? 0 : undefined;
  if (at + 6 !== text.length || text[at + 3] !== ":") return undefined;
  const hours = digitsAt(text, at + 1, 2);
  const minutes = digitsAt(text, at + 4, 2);
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return undefined;
  if (text[at] === "+") return hours * 60 + minutes;
  return text[at] === "-" ? -(hours * 60 + minutes) : undefined;
}

/** Parses `length` digits; -1 if they are not all digits. */
function digitsAt(text: string, start: number, length: number): number {
  let value = 0;
  for (let at = start; at < start + length; at++) {
    const code = text.charCodeAt(at);
    if (!isDigit(code)) return -1;
    value = value * 10 + code - 48;
  }
  return value;
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}
