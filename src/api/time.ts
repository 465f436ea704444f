/** The last second that was formatted, and its text: requests of one second need it again and again. */
let lastSecond = 0;
let lastText = "1970-01-01T00:00:00Z";

/** Formats meta/v1 Time: RFC 3339 in whole seconds, UTC. */
export function formatTime(ms: number): string {
  const second = Math.floor(ms / 1_000);
  if (second !== lastSecond) {
    lastText = `${new Date(ms).toISOString().slice(0, 19)}Z`;
    lastSecond = second;
  }
  return lastText;
}

/** Formats meta/v1 MicroTime: `2006-01-02T15:04:05.000000Z`. */
export function formatMicroTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -1)}000Z`;
}
