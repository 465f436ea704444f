import { type Cidr, type IpAddress, type IpFamily, parseCidr, parseIp } from "../../api/validation/ip.ts";

/**
 * The addresses of a CIDR that can be given out: without the network's own address, and in IPv4 without the broadcast
 * address. Those in front form the lower band, which is left to clients that ask for a certain address:
 *     network │ lower band │ upper band │ broadcast
 */
export interface IpRange {
  readonly cidr: Cidr;
  /** As it was configured. */
  readonly text: string;
  readonly family: IpFamily;
  readonly first: bigint;
  /** The first address of the upper band. Equal to `first` where the range is too small for two bands. */
  readonly upper: bigint;
  readonly last: bigint;
}

/** Returns undefined unless the text is a CIDR with at least one address to give. */
export function ipRange(text: string): IpRange | undefined {
  const cidr = parseCidr(text);
  if (cidr === undefined) return undefined;
  const bits = BigInt(8 * cidr.address.bytes.length - cidr.prefixBits);
  const size = 1n << bits;
  const network = (numberOf(cidr.address) >> bits) << bits;
  const first = network + 1n;
  const last = network + size - (cidr.family === "IPv4" ? 2n : 1n);
  if (last < first) return undefined;
  return { cidr, text, family: cidr.family, first, upper: first + lowerBandSize(size), last };
}

/** `min(max(16, size / 16), 256)`; up to 16 addresses are not split. */
function lowerBandSize(size: bigint): bigint {
  if (size <= 16n) return 0n;
  const part = size / 16n;
  if (part < 16n) return 16n;
  return part > 256n ? 256n : part;
}

export function inRange({ family, first, last }: IpRange, ip: IpAddress): boolean {
  const number = numberOf(ip);
  return ip.family === family && number >= first && number <= last;
}

/** The first address that can be given out. */
export function firstAddress({ first, family }: IpRange): string {
  return addressText(first, family);
}

/**
 * Every address once: the upper band from a random place on, then the lower band.
 * @param randomBelow an integer in [0, below)
 */
export function* addressesToTry(range: IpRange, randomBelow: (below: number) => number): Generator<string> {
  const bands = [
    { from: range.upper, to: range.last },
    { from: range.first, to: range.upper - 1n },
  ];
  for (const { from, to } of bands) {
    const size = to - from + 1n;
    if (size <= 0n) continue;
    const start = randomOffset(size, randomBelow);
    for (let step = 0n; step < size; step++) yield addressText(from + ((start + step) % size), range.family);
  }
}

/** Offsets beyond 2^32 are never drawn: a range that large is searched well from any start. */
function randomOffset(size: bigint, randomBelow: (below: number) => number): bigint {
  const below = size > 0xffff_ffffn ? 0xffff_ffff : Number(size);
  return BigInt(randomBelow(below));
}

export function numberOf({ bytes }: IpAddress): bigint {
  return bytes.reduce((number, byte) => (number << 8n) | BigInt(byte), 0n);
}

export function addressText(number: bigint, family: IpFamily): string {
  if (family === "IPv4") return [24n, 16n, 8n, 0n].map((shift) => (number >> shift) & 255n).join(".");
  const hex = number.toString(16).padStart(32, "0");
  const groups = Array.from({ length: 8 }, (_, at) => hex.slice(4 * at, 4 * at + 4));
  return (parseIp(groups.join(":")) as IpAddress).text;
}
