import type { RandomInt } from "../../registry/random-name.ts";

/** Ports from `first` to `last`, both included. Those below `upper` are left to clients that ask for a certain one. */
export interface PortRange {
  readonly first: number;
  readonly upper: number;
  readonly last: number;
}

/** `30000-32767`; undefined for anything else. */
export function portRange(text: string): PortRange | undefined {
  const match = /^(\d{1,5})-(\d{1,5})$/.exec(text);
  const first = Number(match?.[1]);
  const last = Number(match?.[2]);
  if (!(first >= 1 && last >= first && last <= 65_535)) return undefined;
  return { first, upper: first + lowerBandSize(last - first + 1), last };
}

/** `min(max(16, size / 32), 128)`; up to 16 ports are not split. */
function lowerBandSize(size: number): number {
  return size <= 16 ? 0 : Math.min(Math.max(16, Math.floor(size / 32)), 128);
}

/** Every port once: the upper band from a random place on, then the lower band. */
export function* portsToTry({ first, upper, last }: PortRange, randomInt: RandomInt): Generator<number> {
  const bands = [
    { from: upper, size: last - upper + 1 },
    { from: first, size: upper - first },
  ];
  for (const { from, size } of bands) {
    if (size <= 0) continue;
    const start = randomInt(size);
    for (let step = 0; step < size; step++) yield from + ((start + step) % size);
  }
}

/** Returns the reason why a port cannot be taken, if it is not in the range. Upstream does not ask in a dry run. */
export function rangeProblem(port: number, range: PortRange): string | undefined {
  if (port >= range.first && port <= range.last) return undefined;
  return `provided port is not in the valid range. The range of valid ports is ${rangeText(range)}`;
}

export function rangeText({ first, last }: PortRange): string {
  return `${first}-${last}`;
}
