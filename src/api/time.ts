/** RFC 3339 in whole seconds, UTC: meta/v1 Time. */
export function formatTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** The same in microseconds, `2006-01-02T15:04:05.000000Z`: meta/v1 MicroTime. */
export function formatMicroTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -1)}000Z`;
}
