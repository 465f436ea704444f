import { formatGoDuration, parseGoDuration } from "../../api/go-duration.ts";

const nanosecondsPerMs = 1_000_000;

/**
 * Parses duration text such as `5s`, `1m30s`, `1.5h` or `0` into milliseconds.
 * Returns undefined for anything else, including a bare number other than zero.
 */
export function parseDurationMs(text: string): number | undefined {
  const nanoseconds = parseGoDuration(text);
  return nanoseconds === undefined ? undefined : Number(nanoseconds) / nanosecondsPerMs;
}

/** Formats milliseconds as duration text: 90000 → `1m30s`, 0 → `0s`. */
export function formatDurationMs(ms: number): string {
  return formatGoDuration(BigInt(Math.round(ms * nanosecondsPerMs)));
}
