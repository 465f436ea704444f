/** Formats a time as RFC 3339 in whole seconds, in the zone of this machine. */
export function localTime(ms: number): string {
  const time = new Date(ms);
  const offsetMinutes = -time.getTimezoneOffset();
  const local = new Date(ms + offsetMinutes * 60_000).toISOString().slice(0, 19);
  if (offsetMinutes === 0) return `${local}Z`;
  const two = (value: number) => String(Math.floor(value)).padStart(2, "0");
  const minutes = Math.abs(offsetMinutes);
  return `${local}${offsetMinutes < 0 ? "-" : "+"}${two(minutes / 60)}:${two(minutes % 60)}`;
}
