const unitNanos: readonly (readonly [names: readonly string[], nanos: bigint])[] = [
  [["ns", "nano"], 1n],
  [["us", "µs", "micro"], 1_000n],
  [["ms", "milli"], 1_000_000n],
  [["s", "sec"], 1_000_000_000n],
  [["m", "min"], 60_000_000_000n],
  [["h", "hr", "hour"], 3_600_000_000_000n],
  [["d", "day"], 86_400_000_000_000n],
  [["w", "wk", "week"], 604_800_000_000_000n],
];
const durationLengthMax = 128;

/** Parses `2 days 3 hours`. The longest name of a unit may be followed by more letters. */
export function wordedDuration(text: string): bigint | undefined {
  if (text.length > durationLengthMax) return undefined;
  let nanos: bigint | undefined;
  for (const [, count = "0", word = ""] of text.matchAll(/(\d{1,18})\s*([A-Za-zµ]+)/g)) {
    const unit = word.toLowerCase();
    for (const [names, each] of unitNanos) {
      const isNamed = names.includes(unit) || unit.startsWith(names.at(-1) ?? "\n");
      if (isNamed) nanos = (nanos ?? 0n) + BigInt(count) * each;
    }
  }
  return nanos === undefined ? undefined : BigInt.asIntN(64, nanos);
}
