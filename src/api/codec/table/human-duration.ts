const secondMs = 1_000;
const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

/**
 * Formats a duration for people, with less detail the longer it is: `45s`, `3m20s`, `5h10m`, `3d4h`, `2y80d`. Up to a
 * second in the future counts as now, because clocks differ; anything later is `<invalid>`.
 */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / secondMs);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 2 * minute) return `${seconds}s`;
  if (seconds < 10 * minute) return pair(seconds, minute, "m", 1, "s");
  if (seconds < 3 * hour) return `${Math.floor(seconds / minute)}m`;
  if (seconds < 8 * hour) return pair(seconds, hour, "h", minute, "m");
  if (seconds < 2 * day) return `${Math.floor(seconds / hour)}h`;
  if (seconds < 8 * day) return pair(seconds, day, "d", hour, "h");
  if (seconds < 2 * year) return `${Math.floor(seconds / day)}d`;
  if (seconds < 8 * year) return pair(seconds, year, "y", day, "d");
  return `${Math.floor(seconds / year)}y`;
}

/** Returns the time for which a duration that grows keeps its text; 0 for a negative one. */
export function steadyMs(ms: number): number {
  if (ms < 0) return 0;
  const unitMs = secondMs * detailOf(Math.trunc(ms / secondMs));
  return unitMs - (ms % unitMs);
}

/** Returns the smallest unit that the text of a duration shows. */
function detailOf(seconds: number): number {
  if (seconds < 10 * minute) return 1;
  if (seconds < 8 * hour) return minute;
  if (seconds < 8 * day) return hour;
  return seconds < 8 * year ? day : year;
}

function pair(seconds: number, large: number, largeUnit: string, small: number, smallUnit: string): string {
  const rest = Math.floor((seconds % large) / small);
  return `${Math.floor(seconds / large)}${largeUnit}${rest === 0 ? "" : `${rest}${smallUnit}`}`;
}
