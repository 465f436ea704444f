import { quoteText } from "./go-literal.ts";

/** An IPv4 address of 4 bytes or an IPv6 address of 16. */
export interface Address {
  readonly bytes: readonly number[];
  /** The part of an IPv6 address after `%`. */
  readonly zone: string;
}

/** Thrown for text that is neither an address nor a network. Messages are those of Go's netip. */
export class AddressError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "AddressError";
  }
}

function failure(input: string, problem: string, rest?: string): AddressError {
  const place = rest === undefined ? "" : ` (at ${quoteText(rest)})`;
  return new AddressError(`ParseAddr(${quoteText(input)}): ${problem}${place}`);
}

/** @throws AddressError */
export function parseAddress(text: string): Address {
  for (const character of text) {
    if (character === ".") return { bytes: parseFour(text, text), zone: "" };
    if (character === ":") return parseSix(text);
    if (character === "%") throw failure(text, "missing IPv6 address");
  }
  throw failure(text, "unable to parse IP");
}

function parseFour(input: string, text: string): number[] {
  const fields: number[] = [];
  let value = 0;
  let digits = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character >= "0" && character <= "9") {
      if (digits === 1 && value === 0) throw failure(input, "IPv4 field has octet with leading zero");
      value = value * 10 + Number(character);
      digits++;
      if (value > 255) throw failure(input, "IPv4 field has value >255");
    } else if (character === ".") {
      if (at === 0 || at === text.length - 1 || text.charAt(at - 1) === ".") {
        throw failure(input, "IPv4 field must have at least one digit", text.slice(at));
      }
      if (fields.length === 3) throw failure(input, "IPv4 address too long");
      fields.push(value);
      value = 0;
      digits = 0;
    } else {
      throw failure(input, "unexpected character", text.slice(at));
    }
  }
  if (fields.length < 3) throw failure(input, "IPv4 address too short");
  return [...fields, value];
}

function parseSix(input: string): Address {
  const percent = input.indexOf("%");
  const zone = percent < 0 ? "" : input.slice(percent + 1);
  if (percent >= 0 && zone === "") throw failure(input, "zone must be a non-empty string");
  let rest = percent < 0 ? input : input.slice(0, percent);
  const bytes: number[] = [];
  let ellipsis = -1;
  if (rest.startsWith("::")) {
    ellipsis = 0;
    rest = rest.slice(2);
  }
  while (bytes.length < 16 && !(ellipsis === bytes.length && rest === "")) {
    const length = groupLength(input, rest);
    if (rest.charAt(length) === ".") {
      bytes.push(...parseEmbedded(input, rest, bytes.length, ellipsis));
      rest = "";
      break;
    }
    const group = Number.parseInt(rest.slice(0, length), 16);
    bytes.push(group >> 8, group & 0xff);
    rest = rest.slice(length);
    if (rest === "") break;
    if (!rest.startsWith(":")) throw failure(input, "unexpected character, want colon", rest);
    if (rest.length === 1) throw failure(input, "colon must be followed by more characters", rest);
    rest = rest.slice(1);
    if (rest.startsWith(":")) {
      if (ellipsis >= 0) throw failure(input, "multiple :: in address", rest);
      ellipsis = bytes.length;
      rest = rest.slice(1);
    }
  }
  if (rest !== "") throw failure(input, "trailing garbage after address", rest);
  return { bytes: expanded(input, bytes, ellipsis), zone };
}

function groupLength(input: string, rest: string): number {
  let length = 0;
  for (; /^[0-9a-fA-F]$/.test(rest.charAt(length)); length++) {
    if (length > 3) throw failure(input, "each group must have 4 or less digits", rest);
  }
  if (length === 0) throw failure(input, "each colon-separated field must have at least one digit", rest);
  return length;
}

function parseEmbedded(input: string, rest: string, count: number, ellipsis: number): number[] {
  if (ellipsis < 0 && count !== 12) {
    throw failure(input, "embedded IPv4 address must replace the final 2 fields of the address", rest);
  }
  if (count + 4 > 16) {
    throw failure(input, "too many hex fields to fit an embedded IPv4 at the end of the address", rest);
  }
  return parseFour(input, rest);
}

function expanded(input: string, bytes: readonly number[], ellipsis: number): number[] {
  if (bytes.length === 16) {
    if (ellipsis >= 0) throw failure(input, "the :: must expand to at least one field of zeros");
    return [...bytes];
  }
  if (ellipsis < 0) throw failure(input, "address string too short");
  const zeros = Array.from({ length: 16 - bytes.length }, () => 0);
  return [...bytes.slice(0, ellipsis), ...zeros, ...bytes.slice(ellipsis)];
}

/** Writes an address in its canonical form: the longest run of zeros is left out. */
export function formatAddress({ bytes, zone }: Address): string {
  if (bytes.length === 4) return bytes.join(".");
  const groups = Array.from({ length: 8 }, (_, at) => ((bytes[2 * at] ?? 0) << 8) | (bytes[2 * at + 1] ?? 0));
  const suffix = zone === "" ? "" : `%${zone}`;
  if (isMappedFour({ bytes, zone })) return `::ffff:${bytes.slice(12).join(".")}${suffix}`;
  const { start, end } = longestZeros(groups);
  const texts = groups.map((group) => group.toString(16));
  if (end - start < 2) return texts.join(":") + suffix;
  return `${texts.slice(0, start).join(":")}::${texts.slice(end).join(":")}${suffix}`;
}

function longestZeros(groups: readonly number[]): { readonly start: number; readonly end: number } {
  let best = { start: 0, end: 0 };
  for (let start = 0; start < groups.length; start++) {
    let end = start;
    while (groups[end] === 0) end++;
    if (end - start > best.end - best.start) best = { start, end };
  }
  return best;
}

/** Reports whether an IPv6 address holds an IPv4 address. */
export function isMappedFour({ bytes }: Address): boolean {
  return bytes.length === 16 && bytes.every((byte, at) => at >= 12 || byte === (at < 10 ? 0 : 0xff));
}

/** A network: an address and the length of its prefix. */
export interface Network {
  readonly address: Address;
  readonly bits: number;
}

/** @throws AddressError */
export function parseNetwork(text: string): Network {
  const problem = (message: string) => new AddressError(`netip.ParsePrefix(${quoteText(text)}): ${message}`);
  const slash = text.lastIndexOf("/");
  if (slash < 0) throw problem("no '/'");
  let address: Address;
  try {
    address = parseAddress(text.slice(0, slash));
  } catch (error) {
    throw error instanceof AddressError ? problem(error.message) : error;
  }
  if (address.zone !== "") throw problem("IPv6 zones cannot be present in a prefix");
  const bitsText = text.slice(slash + 1);
  const isWritten = bitsText.length > 1 ? /^[1-9]\d*$/.test(bitsText) : /^\d$/.test(bitsText);
  if (!isWritten || bitsText.length > 18) throw problem(`bad bits after slash: ${quoteText(bitsText)}`);
  const bits = Number(bitsText);
  if (bits > address.bytes.length * 8) throw problem("prefix length out of range");
  return { address, bits };
}

/** Returns the network with the bits after the prefix cleared. */
export function maskNetwork({ address, bits }: Network): Network {
  const bytes = address.bytes.map((byte, at) => byte & maskByte(bits, at));
  return { address: { bytes, zone: "" }, bits };
}

function maskByte(bits: number, at: number): number {
  const kept = Math.min(8, Math.max(0, bits - 8 * at));
  return (0xff << (8 - kept)) & 0xff;
}

/** Reports whether two addresses have their first bits in common. */
export function sharesBits(a: Address, b: Address, bits: number): boolean {
  if (a.bytes.length !== b.bytes.length) return false;
  return a.bytes.every((byte, at) => ((byte ^ (b.bytes[at] ?? 0)) & maskByte(bits, at)) === 0);
}
