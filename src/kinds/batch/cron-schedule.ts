import { parseGoDuration } from "../../api/go-duration.ts";

/** The numbers that a field of a schedule allows, in order. */
export interface CronField {
  readonly values: readonly number[];
  /** Written as `*` or `?`: of the two kinds of days only the other one counts then. */
  readonly any: boolean;
}

/** When something happens: at times of the calendar, or every so often. */
export type CronSchedule =
  | {
      readonly kind: "calendar";
      readonly minutes: CronField;
      readonly hours: CronField;
      readonly daysOfMonth: CronField;
      readonly months: CronField;
      readonly daysOfWeek: CronField;
    }
  | { readonly kind: "every"; readonly intervalMs: number };

/** Texts are upstream's: they reach clients inside validation errors. */
export class CronScheduleError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "CronScheduleError";
  }
}

interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const minuteBounds: Bounds = { min: 0, max: 59 };
const hourBounds: Bounds = { min: 0, max: 23 };
const dayOfMonthBounds: Bounds = { min: 1, max: 31 };
const monthBounds: Bounds = {
  min: 1,
  max: 12,
  names: ["", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
};
const dayOfWeekBounds: Bounds = { min: 0, max: 6, names: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] };
const fieldCount = 5;

const descriptors: ReadonlyMap<string, string> = new Map([
  ["@yearly", "0 0 1 1 *"],
  ["@annually", "0 0 1 1 *"],
  ["@monthly", "0 0 1 * *"],
  ["@weekly", "0 0 * * 0"],
  ["@daily", "0 0 * * *"],
  ["@midnight", "0 0 * * *"],
  ["@hourly", "0 * * * *"],
]);
const everyPrefix = "@every ";

/**
 * Reads `5 4 * * mon-fri`, `@daily` or `@every 1h30m`, each after an optional `TZ=<zone> `.
 * @throws CronScheduleError
 */
export function parseCronSchedule(text: string): CronSchedule {
  if (text === "") throw new CronScheduleError("empty spec string");
  const spec = withoutTimeZone(text);
  if (spec.startsWith("@")) return parseDescriptor(spec);
  const fields = spec.split(/\s+/).filter((field) => field !== "");
  if (fields.length !== fieldCount) {
    throw new CronScheduleError(`expected exactly ${fieldCount} fields, found ${fields.length}: [${fields.join(" ")}]`);
  }
  const [minutes, hours, daysOfMonth, months, daysOfWeek] = fields as [string, string, string, string, string];
  return {
    kind: "calendar",
    minutes: parseField(minutes, minuteBounds),
    hours: parseField(hours, hourBounds),
    daysOfMonth: parseField(daysOfMonth, dayOfMonthBounds),
    months: parseField(months, monthBounds),
    daysOfWeek: parseField(daysOfWeek, dayOfWeekBounds),
  };
}

/** Whether the name is one of the IANA database, spelled as there. */
export function isTimeZone(name: string): boolean {
  // A name that starts with a sign or a digit is an offset. The platform accepts offsets, the database does not.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    const { timeZone } = new Intl.DateTimeFormat("en-US", { timeZone: name }).resolvedOptions();
    return timeZone === name || timeZone.toLowerCase() !== name.toLowerCase();
  } catch {
    return false;
  }
}

function withoutTimeZone(text: string): string {
  if (!text.startsWith("TZ=") && !text.startsWith("CRON_TZ=")) return text;
  const end = text.indexOf(" ");
  if (end < 0) {
    throw new CronScheduleError("invalid schedule format: runtime error: slice bounds out of range [:-1]");
  }
  const zone = text.slice(text.indexOf("=") + 1, end);
  if (zone !== "" && zone !== "Local" && !isTimeZone(zone)) {
    throw new CronScheduleError(`provided bad location ${zone}: unknown time zone ${zone}`);
  }
  return text.slice(end).trim();
}

function parseDescriptor(spec: string): CronSchedule {
  const calendar = descriptors.get(spec);
  if (calendar !== undefined) return parseCronSchedule(calendar);
  if (!spec.startsWith(everyPrefix)) throw new CronScheduleError(`unrecognized descriptor: ${spec}`);
  const text = spec.slice(everyPrefix.length);
  const nanos = parseGoDuration(text);
  if (nanos === undefined) {
    throw new CronScheduleError(`failed to parse duration ${spec}: time: invalid duration ${JSON.stringify(text)}`);
  }
  // Seconds are the finest step, and one of them the shortest interval.
  return { kind: "every", intervalMs: Math.max(1, Math.floor(Number(nanos) / 1e9)) * 1000 };
}

/** A list of ranges, each `5`, `*`, `1-5` or one of these with a step. */
function parseField(text: string, bounds: Bounds): CronField {
  const values = new Set<number>();
  let any = false;
  for (const range of text.split(",")) {
    if (range === "") continue;
    const parsed = parseRange(range, bounds);
    for (let value = parsed.start; value <= parsed.end; value += parsed.step) values.add(value);
    any ||= parsed.any;
  }
  return { values: [...values].sort((a, b) => a - b), any };
}

function parseRange(text: string, bounds: Bounds): { start: number; end: number; step: number; any: boolean } {
  const [range = "", stepText, ...moreSteps] = text.split("/");
  const [low = "", high, ...moreBounds] = range.split("-");
  const wildcard = low === "*" || low === "?";
  const start = wildcard ? bounds.min : parseNumber(low, bounds);
  if (!wildcard && moreBounds.length > 0) throw new CronScheduleError(`too many hyphens: ${text}`);
  let end = wildcard ? bounds.max : start;
  if (!wildcard && high !== undefined) end = parseNumber(high, bounds);
  if (moreSteps.length > 0) throw new CronScheduleError(`too many slashes: ${text}`);
  const step = stepText === undefined ? 1 : parseNumber(stepText);
  if (stepText !== undefined && high === undefined) end = bounds.max;
  checkRange({ start, end, step }, bounds, text);
  return { start, end, step, any: wildcard && step === 1 };
}

function checkRange(
  { start, end, step }: { start: number; end: number; step: number },
  { min, max }: Bounds,
  text: string,
): void {
  if (start < min) throw new CronScheduleError(`beginning of range (${start}) below minimum (${min}): ${text}`);
  if (end > max) throw new CronScheduleError(`end of range (${end}) above maximum (${max}): ${text}`);
  if (start > end) throw new CronScheduleError(`beginning of range (${start}) beyond end of range (${end}): ${text}`);
  if (step === 0) throw new CronScheduleError(`step of range should be a positive number: ${text}`);
}

function parseNumber(text: string, bounds?: Bounds): number {
  const named = text === "" ? -1 : (bounds?.names?.indexOf(text.toLowerCase()) ?? -1);
  if (named >= 0) return named;
  const failed = (why: string) =>
    new CronScheduleError(`failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: ${why}`);
  if (!/^[-+]?[0-9]+$/.test(text)) throw failed("invalid syntax");
  const number = Number(text);
  if (!Number.isSafeInteger(number)) throw failed("value out of range");
  if (number < 0) throw new CronScheduleError(`negative number (${number}) not allowed: ${text}`);
  return number;
}
