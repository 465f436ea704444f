const nanosPerSecond = 1_000_000_000n;
/** The years 1 to 9999. */
export const unixSecondsMin = -62_135_596_800n;
export const unixSecondsMax = 253_402_300_799n;

/** Year, month, day, hour, minute, second, fraction, zone: what RFC 3339 allows and Go reads. */
const rfc3339 = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:[.,](\d+))?(Z|[+-]\d{2}:\d{2})$/;

/** A time and the zone that it was written in. */
export interface ZonedTime {
  /** Since 1970. */
  readonly nanos: bigint;
  readonly zoneMinutes: number;
}

/** Reads an RFC 3339 time. */
export function parseTimestamp(text: string): ZonedTime | undefined {
  const match = rfc3339.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction = "", zone = "Z"] = match;
  const parts = { year: Number(year), month: Number(month), day: Number(day) };
  if (!isDate(parts) || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const offset = zoneMinutes(zone);
  if (offset === undefined) return undefined;
  const days = daysSince1970(parts);
  const seconds = days * 86_400 + Number(hour) * 3_600 + (Number(minute) - offset) * 60 + Number(second);
  const nanos = BigInt(seconds) * nanosPerSecond + BigInt(fraction.slice(0, 9).padEnd(9, "0"));
  return { nanos, zoneMinutes: offset };
}

function zoneMinutes(zone: string): number | undefined {
  if (zone === "Z") return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(4, 6));
  if (hours > 24 || minutes > 60) return undefined;
  return (zone.startsWith("-") ? -1 : 1) * (hours * 60 + minutes);
}

interface CalendarDate {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

export function isDate({ year, month, day }: CalendarDate): boolean {
  if (month < 1 || month > 12 || day < 1) return false;
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  return day <= (lengths[month - 1] ?? 0);
}

export function daysSince1970({ year, month, day }: CalendarDate): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return Math.round(date.getTime() / 86_400_000);
}

/** Writes a time in its zone, with as many decimals as it needs. */
export function formatTimestamp({ nanos, zoneMinutes }: ZonedTime): string {
  const seconds = floorDivide(nanos, nanosPerSecond);
  const fraction = nanos - seconds * nanosPerSecond;
  const local = Number(seconds) + zoneMinutes * 60;
  const text = new Date(local * 1_000).toISOString().slice(0, 19);
  const decimals = fraction === 0n ? "" : `.${String(fraction).padStart(9, "0").replace(/0+$/, "")}`;
  return `${text}${decimals}${zoneText(zoneMinutes)}`;
}

function zoneText(minutes: number): string {
  if (minutes === 0) return "Z";
  const size = Math.abs(minutes);
  const part = (value: number) => String(value).padStart(2, "0");
  return `${minutes < 0 ? "-" : "+"}${part(Math.floor(size / 60))}:${part(size % 60)}`;
}

export function floorDivide(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor;
  return value % divisor < 0n ? quotient - 1n : quotient;
}

/** Writes a duration in seconds: `1.5s`. */
export function formatDuration(nanos: bigint): string {
  // Upstream adds whole seconds and the rest as doubles, which shows in the last digits of long durations.
  const seconds = Number(nanos / nanosPerSecond) + Number(nanos % nanosPerSecond) / 1e9;
  return `${decimalText(seconds)}s`;
}

function decimalText(value: number): string {
  return Math.abs(value) < 1e-6 && value !== 0 ? value.toFixed(9).replace(/0+$/, "") : String(value);
}
