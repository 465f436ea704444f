const unitNanoseconds: ReadonlyMap<string, bigint> = new Map([
  ["ns", 1n],
  ["us", 1_000n],
  ["µs", 1_000n],
  ["μs", 1_000n],
  ["ms", 1_000_000n],
  ["s", 1_000_000_000n],
  ["m", 60_000_000_000n],
  ["h", 3_600_000_000_000n],
]);
const durationMax = 2n ** 63n - 1n;
const durationTextMax = 200;
const fractionDigitsMax = 15;

/** Nanoseconds of a duration such as `1h30m` or `-1.5s`; undefined when the text is not one or does not fit 64 bits. */
export function parseGoDuration(text: string): bigint | undefined {
  if (text.length > durationTextMax) return undefined;
  const negative = text.startsWith("-");
  const body = negative || text.startsWith("+") ? text.slice(1) : text;
  if (body === "0") return 0n;
  const part = /(\d*)(?:\.(\d*))?([a-zµμ]+)/y;
  let total = 0n;
  while (part.lastIndex < body.length) {
    const match = part.exec(body);
    const unit = unitNanoseconds.get(match?.[3] ?? "");
    if (match === null || unit === undefined) return undefined;
    const [whole = "", fraction = ""] = [match[1], match[2]];
    if (whole === "" && fraction === "") return undefined;
    const digits = fraction.slice(0, fractionDigitsMax);
    total += BigInt(whole || "0") * unit;
    if (digits !== "") total += (BigInt(digits) * unit) / 10n ** BigInt(digits.length);
  }
  if (body === "" || total > durationMax) return undefined;
  return negative ? -total : total;
}

/** Go's text of a duration: `1h30m0s`, `1.5s`, `250ms`, `0s`. */
export function formatGoDuration(nanoseconds: bigint): string {
  if (nanoseconds === 0n) return "0s";
  const sign = nanoseconds < 0n ? "-" : "";
  const size = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  if (size < 1_000n) return `${sign}${size}ns`;
  if (size < 1_000_000n) return `${sign}${decimal(size, 1_000n)}µs`;
  if (size < 1_000_000_000n) return `${sign}${decimal(size, 1_000_000n)}ms`;
  const minutes = size / 60_000_000_000n;
  const seconds = `${decimal(size % 60_000_000_000n, 1_000_000_000n)}s`;
  if (minutes === 0n) return sign + seconds;
  if (minutes < 60n) return `${sign}${minutes}m${seconds}`;
  return `${sign}${minutes / 60n}h${minutes % 60n}m${seconds}`;
}

function decimal(value: bigint, unit: bigint): string {
  const rest = value % unit;
  if (rest === 0n) return `${value / unit}`;
  const digits = rest.toString().padStart(unit.toString().length - 1, "0");
  return `${value / unit}.${digits.replace(/0+$/, "")}`;
}
