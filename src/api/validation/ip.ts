import { type FieldError, fieldError } from "../field-error.ts";
import type { JsonValue } from "../json.ts";
import { textOf } from "../json-reading.ts";

export type IpFamily = "IPv4" | "IPv6";

/** An address: its family, its 4 or 16 bytes, and its canonical text. */
export interface IpAddress {
  readonly family: IpFamily;
  readonly bytes: readonly number[];
  readonly text: string;
}

export interface Cidr {
  readonly family: IpFamily;
  /** Address as written, including bits beyond the prefix. */
  readonly address: IpAddress;
  readonly prefixBits: number;
}

export const ipText = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
export const cidrText = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
/** Longer than any spelling of an address. */
const ipTextBytesMax = 64;
const ipv4Bytes = 4;
/** Digits of an octet that are read; further leading zeros are refused. */
const octetDigitsMax = 10;
const dot = 0x2e;
const ipv6Bytes = 16;

/** Parses an address as upstream does: leading zeros are decimal, and an IPv4 address inside IPv6 is IPv4. */
export function parseIp(text: string): IpAddress | undefined {
  if (text.length > ipTextBytesMax) return undefined;
  if (!text.includes(":")) return addressOf(parseIpv4(text));
  const bytes = parseIpv6(text);
  const isMapped = bytes?.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255;
  return addressOf(isMapped ? bytes?.slice(12) : bytes);
}

export function parseCidr(text: string): Cidr | undefined {
  const [ip = "", bits = "", ...rest] = text.split("/");
  const address = parseIp(ip);
  if (address === undefined || rest.length > 0 || !/^[0-9]{1,3}$/.test(bits)) return undefined;
  const prefixBits = Number(bits) - (ip.includes(":") && address.family === "IPv4" ? 8 * (ipv6Bytes - ipv4Bytes) : 0);
  return prefixBits < 0 || prefixBits > 8 * address.bytes.length
    ? undefined
    : { family: address.family, address, prefixBits };
}

/** Reports whether the range contains the address. */
export function containsIp({ family, address, prefixBits }: Cidr, ip: IpAddress): boolean {
  if (family !== ip.family) return false;
  return address.bytes.every((byte, at) => {
    const shift = 8 - Math.min(8, Math.max(0, prefixBits - 8 * at));
    return byte >> shift === (ip.bytes[at] as number) >> shift;
  });
}

export function isIp(text: string): boolean {
  return parseIp(text) !== undefined;
}

/** Validates an IP address of either family; an absent one counts as empty text. */
export function validateIp(value: JsonValue | undefined, field: string): FieldError[] {
  const text = textOf(value);
  return isIp(text) ? [] : [fieldError.invalid(field, text, ipText)];
}

/** Requires at most one address of each family. */
export function validateDualStack(
  addresses: readonly string[],
  { value, field }: { value: JsonValue | undefined; field: string },
): FieldError[] {
  const families = new Set(addresses.map((address) => parseIp(address)?.family));
  if (addresses.length <= 1 || (addresses.length === 2 && families.size === 2)) return [];
  return [fieldError.invalid(field, value, "may specify no more than one IP for each IP family")];
}

/** Reports whether the address has bits beyond the prefix. */
export function hasHostBits({ address, prefixBits }: Cidr): boolean {
  return address.bytes.some((byte, at) => (byte & hostMask(prefixBits, at)) !== 0);
}

/** Returns the first address of the range. */
export function networkOf({ address, prefixBits }: Cidr): IpAddress {
  const bytes = address.bytes.map((byte, at) => byte & ~hostMask(prefixBits, at));
  return addressOf(bytes) as IpAddress;
}

/** Returns the bits of a byte of an address that are beyond the prefix. */
function hostMask(prefixBits: number, at: number): number {
  return 255 >> Math.min(8, Math.max(0, prefixBits - 8 * at));
}

/** Validates the address of an endpoint: not unspecified, loopback or link-local. */
export function validateNonSpecialIp(text: string, field: string): FieldError[] {
  const ip = parseIp(text);
  if (ip === undefined) return [fieldError.invalid(field, text, "must be a valid IP address")];
  if (ip.bytes.every((byte) => byte === 0))
    return [fieldError.invalid(field, text, `may not be unspecified (${text})`)];
  return specialRanges
    .filter(({ ranges }) => ranges.some((range) => containsIp(range, ip)))
    .map(({ problem }) => fieldError.invalid(field, text, problem));
}

const specialRanges: readonly { readonly problem: string; readonly ranges: readonly Cidr[] }[] = [
  {
    problem: "may not be in the loopback range (127.0.0.0/8, ::1/128)",
    ranges: rangesOf("127.0.0.0/8", "::1/128"),
  },
  {
    problem: "may not be in the link-local range (169.254.0.0/16, fe80::/10)",
    ranges: rangesOf("169.254.0.0/16", "fe80::/10"),
  },
  {
    problem: "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)",
    ranges: rangesOf("224.0.0.0/24", "ff02::/16"),
  },
];

function rangesOf(...texts: string[]): Cidr[] {
  return texts.map((text) => parseCidr(text) as Cidr);
}

function parseIpv4(text: string): number[] | undefined {
  const bytes: number[] = [];
  let digits = 0;
  let byte = 0;
  for (let at = 0; at <= text.length; at++) {
    const code = at === text.length ? dot : text.charCodeAt(at);
    if (code === dot) {
      if (digits === 0 || digits > octetDigitsMax || byte > 255) return undefined;
      bytes.push(byte);
      digits = byte = 0;
    } else if (code >= 0x30 && code <= 0x39) {
      digits++;
      byte = byte * 10 + code - 0x30;
    } else return undefined;
  }
  return bytes.length === ipv4Bytes ? bytes : undefined;
}

function parseIpv6(text: string): number[] | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map((half, at) => parseGroups(half, at === halves.length - 1));
  if (head === undefined || (halves.length === 2 && tail === undefined)) return undefined;
  const gap = ipv6Bytes - head.length - (tail?.length ?? 0);
  if (halves.length === 1) return gap === 0 ? head : undefined;
  return gap < 2 ? undefined : [...head, ...Array.from({ length: gap }, () => 0), ...(tail as number[])];
}

/** Parses groups of 16 bits; the end of the address may be written as an IPv4 address. */
function parseGroups(text: string, isLast: boolean): number[] | undefined {
  if (text === "") return [];
  const groups = text.split(":");
  const bytes: number[] = [];
  for (const [at, group] of groups.entries()) {
    if (isLast && at === groups.length - 1 && group.includes(".")) {
      const ipv4 = parseIpv4(group);
      if (ipv4 === undefined) return undefined;
      bytes.push(...ipv4);
    } else {
      if (!/^[0-9a-fA-F]{1,4}$/.test(group)) return undefined;
      const value = Number.parseInt(group, 16);
      bytes.push(value >> 8, value & 255);
    }
  }
  return bytes;
}

function addressOf(bytes: readonly number[] | undefined): IpAddress | undefined {
  if (bytes === undefined) return undefined;
  if (bytes.length === ipv4Bytes) return { family: "IPv4", bytes, text: bytes.join(".") };
  return { family: "IPv6", bytes, text: ipv6TextOf(bytes) };
}

/**
 * Formats in lower case without leading zeros; the longest run of two or more zero groups, the first of equals, becomes
 * `::`.
 */
function ipv6TextOf(bytes: readonly number[]): string {
  const groups = Array.from({ length: 8 }, (_, at) => ((bytes[2 * at] as number) << 8) | (bytes[2 * at + 1] as number));
  let best = { start: 0, length: 0 };
  for (let start = 0; start < groups.length; start++) {
    let length = 0;
    while (groups[start + length] === 0) length++;
    if (length > best.length) best = { start, length };
  }
  const hex = (list: readonly number[]) => list.map((group) => group.toString(16)).join(":");
  if (best.length < 2) return hex(groups);
  return `${hex(groups.slice(0, best.start))}::${hex(groups.slice(best.start + best.length))}`;
}
