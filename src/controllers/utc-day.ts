import { formatTime } from "../api/time.ts";

const dayPattern = /^\d{4}-\d{2}-\d{2}$/;

/** Returns the day in UTC: `2006-01-02`. */
export function dayOf(ms: number): string {
  return formatTime(ms).slice(0, "2006-01-02".length);
}

/** Reports whether the text names a day that exists. */
export function isDay(text: string): boolean {
  const ms = dayPattern.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(ms) && dayOf(ms) === text;
}
