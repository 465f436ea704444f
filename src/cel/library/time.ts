import { RecentMap } from "../../process/recent-map.ts";
import { durationType, intType, stringType, timestampType } from "../types/cel-type.ts";
import { type FunctionDeclaration, member } from "../types/declarations.ts";
import { floorDivide } from "../values/time-text.ts";
import { Duration, EvaluationError, noSuchOverload, type Result, Timestamp, type Value } from "../values/value.ts";

const nanosPerMilli = 1_000_000n;
const millisPerDay = 86_400_000;
/** Formatters for zones by name; there are some 600 names in the database, and one costs about 50 kB. */
const zonesKeptMax = 64;
const zones = new RecentMap<string, Intl.DateTimeFormat>(zonesKeptMax);

type Reader = (local: Date) => number;

const readers: readonly (readonly [name: string, id: string, read: Reader])[] = [
  ["getFullYear", "timestamp_to_year", (local) => local.getUTCFullYear()],
  ["getMonth", "timestamp_to_month", (local) => local.getUTCMonth()],
  ["getDayOfYear", "timestamp_to_day_of_year", dayOfYear],
  ["getDayOfMonth", "timestamp_to_day_of_month", (local) => local.getUTCDate() - 1],
  ["getDate", "timestamp_to_day_of_month_1_based", (local) => local.getUTCDate()],
  ["getDayOfWeek", "timestamp_to_day_of_week", (local) => local.getUTCDay()],
  ["getHours", "timestamp_to_hours", (local) => local.getUTCHours()],
  ["getMinutes", "timestamp_to_minutes", (local) => local.getUTCMinutes()],
  ["getSeconds", "timestamp_to_seconds", (local) => local.getUTCSeconds()],
  ["getMilliseconds", "timestamp_to_milliseconds", (local) => local.getUTCMilliseconds()],
];
const durationUnits: ReadonlyMap<string, readonly [id: string, nanos: bigint]> = new Map([
  ["getHours", ["duration_to_hours", 3_600_000_000_000n]],
  ["getMinutes", ["duration_to_minutes", 60_000_000_000n]],
  ["getSeconds", ["duration_to_seconds", 1_000_000_000n]],
  ["getMilliseconds", ["duration_to_milliseconds", nanosPerMilli]],
]);

/** Parts of timestamps, in UTC or in a zone, and of durations. */
export const timeFunctions: readonly FunctionDeclaration[] = readers.map(([name, id, read]) => {
  const zoned = id === "timestamp_to_seconds" ? "timestamp_to_seconds_tz" : `${id}_with_tz`;
  const unit = durationUnits.get(name);
  return {
    name,
    overloads: [
      member(id, [timestampType], intType, { unary: (time) => inZone(time, "UTC", read) }),
      member(zoned, [timestampType, stringType], intType, { binary: (time, zone) => inZone(time, zone, read) }),
      ...(unit === undefined
        ? []
        : [member(unit[0], [durationType], intType, { unary: (value) => inUnit(value, unit[1]) })]),
    ],
  };
});

function inUnit(value: Value, nanos: bigint): Result {
  return value instanceof Duration ? value.nanos / nanos : noSuchOverload;
}

function inZone(time: Value, zone: Value, read: Reader): Result {
  if (!(time instanceof Timestamp) || typeof zone !== "string") return noSuchOverload;
  const millis = Number(floorDivide(time.nanos, nanosPerMilli));
  const offset = zoneOffset(zone, millis);
  return typeof offset === "number" ? BigInt(read(new Date(millis + offset))) : offset;
}

function dayOfYear(local: Date): number {
  const start = new Date(0);
  start.setUTCFullYear(local.getUTCFullYear(), 0, 1);
  return Math.floor((local.getTime() - start.getTime()) / millisPerDay);
}

/** Returns how far a zone is ahead of UTC at a time, in milliseconds. */
function zoneOffset(zone: string, millis: number): number | EvaluationError {
  if (zone === "" || zone === "UTC") return 0;
  const colon = zone.indexOf(":");
  if (colon < 0) return namedOffset(zone, millis);
  const hours = integer(zone.slice(0, colon));
  if (typeof hours !== "number") return hours;
  const minutes = integer(zone.slice(colon + 1));
  if (typeof minutes !== "number") return minutes;
  return (zone.startsWith("-") ? hours * 60 - minutes : hours * 60 + minutes) * 60_000;
}

function integer(text: string): number | EvaluationError {
  if (/^[+-]?\d{1,9}$/.test(text)) return Number(text);
  return new EvaluationError(`strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`);
}

function namedOffset(zone: string, millis: number): number | EvaluationError {
  const format = zoneFormat(zone);
  if (format === undefined) return new EvaluationError(`unknown time zone ${zone}`);
  const parts = new Map(format.formatToParts(millis).map(({ type, value }) => [type, value]));
  const part = (name: Intl.DateTimeFormatPartTypes) => Number(parts.get(name) ?? "0");
  const local = new Date(0);
  const year = parts.get("era") === "BC" ? 1 - part("year") : part("year");
  local.setUTCFullYear(year, part("month") - 1, part("day"));
  local.setUTCHours(part("hour") % 24, part("minute"), part("second"));
  return local.getTime() - Math.floor(millis / 1_000) * 1_000;
}

function zoneFormat(zone: string): Intl.DateTimeFormat | undefined {
  const known = zones.get(zone);
  if (known !== undefined) return known;
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(zone)) return undefined;
  try {
    const format = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      hourCycle: "h23",
      era: "short",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    zones.set(zone, format);
    return format;
  } catch {
    return undefined;
  }
}
