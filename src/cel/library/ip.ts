import { type Address, AddressError, formatAddress, isMappedFour, parseAddress } from "../../api/go-address.ts";
import { quoteText } from "../../api/go-literal.ts";
import type { Library } from "../environment.ts";
import { boolType, type CelType, intType, opaqueOf, stringType } from "../types/cel-type.ts";
import { type FunctionDeclaration, member, overload } from "../types/declarations.ts";
import { EvaluationError, isError, noSuchOverload, OpaqueValue, type Result, type Value } from "../values/value.ts";

export const ipType = opaqueOf("net.IP");

export class IpValue extends OpaqueValue {
  readonly address: Address;

  constructor(address: Address) {
    super();
    this.address = address;
  }

  get type(): CelType {
    return ipType;
  }

  override get costSize(): number {
    return this.address.bytes.length;
  }

  equals(other: Value): Result {
    return other instanceof IpValue ? this.text === other.text : noSuchOverload;
  }

  get text(): string {
    return formatAddress(this.address);
  }
}

/** IP addresses: `ip("10.0.0.1").isLoopback()`. */
export const ipLibrary: Library = {
  types: [ipType],
  functions: [
    { name: "ip", overloads: [overload("string_to_ip", [stringType], ipType, { unary: toIp })] },
    {
      name: "family",
      overloads: [
        member("ip_family", [ipType], intType, {
          unary: (ip) => (ip instanceof IpValue ? (ip.address.bytes.length === 4 ? 4n : 6n) : noSuchOverload),
        }),
      ],
    },
    {
      name: "ip.isCanonical",
      overloads: [overload("ip_is_canonical", [stringType], boolType, { unary: isCanonical })],
    },
    test("isUnspecified", "ip_is_unspecified", isUnspecified),
    test("isLoopback", "ip_is_loopback", isLoopback),
    test("isLinkLocalMulticast", "ip_is_link_local_multicast", isLinkLocalMulticast),
    test("isLinkLocalUnicast", "ip_is_link_local_unicast", isLinkLocalUnicast),
    test("isGlobalUnicast", "ip_is_global_unicast", isGlobalUnicast),
    {
      name: "isIP",
      overloads: [overload("is_ip", [stringType], boolType, { unary: (text) => !isError(toIp(text)) })],
    },
    {
      name: "string",
      overloads: [
        overload("ip_to_string", [ipType], stringType, {
          unary: (ip) => (ip instanceof IpValue ? ip.text : noSuchOverload),
        }),
      ],
    },
  ],
};

function test(name: string, id: string, holds: (address: Address) => boolean): FunctionDeclaration {
  return {
    name,
    overloads: [
      member(id, [ipType], boolType, { unary: (ip) => (ip instanceof IpValue ? holds(ip.address) : noSuchOverload) }),
    ],
  };
}

export function toIp(text: Value): Result {
  if (typeof text !== "string") return noSuchOverload;
  let address: Address;
  try {
    address = parseAddress(text);
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    const prefix = `IP Address ${quoteText(text)} parse error during conversion from string`;
    return new EvaluationError(`${prefix}: ${error.message}`);
  }
  if (address.zone !== "") return new EvaluationError(`IP address ${quoteText(text)} with zone value is not allowed`);
  if (isMappedFour(address)) {
    return new EvaluationError(`IPv4-mapped IPv6 address ${quoteText(text)} is not allowed`);
  }
  return new IpValue(address);
}

function isCanonical(text: Value): Result {
  const ip = toIp(text);
  return ip instanceof IpValue ? ip.text === text : ip;
}

function isUnspecified({ bytes }: Address): boolean {
  return bytes.every((byte) => byte === 0);
}

function isLoopback({ bytes }: Address): boolean {
  return bytes.length === 4 ? bytes[0] === 127 : bytes.every((byte, at) => byte === (at === 15 ? 1 : 0));
}

function isMulticast({ bytes }: Address): boolean {
  return bytes.length === 4 ? ((bytes[0] ?? 0) & 0xf0) === 0xe0 : bytes[0] === 0xff;
}

function isLinkLocalMulticast({ bytes }: Address): boolean {
  if (bytes.length === 4) return bytes[0] === 224 && bytes[1] === 0 && bytes[2] === 0;
  return bytes[0] === 0xff && ((bytes[1] ?? 0) & 0x0f) === 0x02;
}

function isLinkLocalUnicast({ bytes }: Address): boolean {
  if (bytes.length === 4) return bytes[0] === 169 && bytes[1] === 254;
  return bytes[0] === 0xfe && ((bytes[1] ?? 0) & 0xc0) === 0x80;
}

function isGlobalUnicast(address: Address): boolean {
  const isBroadcast = address.bytes.length === 4 && address.bytes.every((byte) => byte === 0xff);
  if (isBroadcast || isUnspecified(address) || isLoopback(address)) return false;
  return !isMulticast(address) && !isLinkLocalUnicast(address);
}
