import {
  AddressError,
  formatAddress,
  isMappedFour,
  maskNetwork,
  type Network,
  parseNetwork,
  sharesBits,
} from "../../api/go-address.ts";
import { quoteText } from "../../api/go-literal.ts";
import type { Library } from "../environment.ts";
import { boolType, type CelType, intType, opaqueOf, stringType } from "../types/cel-type.ts";
import { member, overload } from "../types/declarations.ts";
import { EvaluationError, isError, noSuchOverload, OpaqueValue, type Result, type Value } from "../values/value.ts";
import { IpValue, ipType, toIp } from "./ip.ts";

const cidrType = opaqueOf("net.CIDR");

export class CidrValue extends OpaqueValue {
  readonly network: Network;

  constructor(network: Network) {
    super();
    this.network = network;
  }

  get type(): CelType {
    return cidrType;
  }

  override get costSize(): number {
    return Math.ceil(this.network.bits / 8);
  }

  equals(other: Value): Result {
    return other instanceof CidrValue ? this.text === other.text : noSuchOverload;
  }

  get text(): string {
    return `${formatAddress(this.network.address)}/${this.network.bits}`;
  }
}

/** Networks: `cidr("10.0.0.0/8").containsIP("10.1.2.3")`. */
export const cidrLibrary: Library = {
  types: [cidrType],
  functions: [
    { name: "cidr", overloads: [overload("string_to_cidr", [stringType], cidrType, { unary: toCidr })] },
    {
      name: "containsIP",
      overloads: [
        member("cidr_contains_ip_string", [cidrType, stringType], boolType, {
          binary: (cidr, text) => containsIp(cidr, toIp(text)),
        }),
        member("cidr_contains_ip_ip", [cidrType, ipType], boolType, { binary: containsIp }),
      ],
    },
    {
      name: "containsCIDR",
      overloads: [
        member("cidr_contains_cidr_string", [cidrType, stringType], boolType, {
          binary: (cidr, text) => containsCidr(cidr, toCidr(text)),
        }),
        member("cidr_contains_cidr", [cidrType, cidrType], boolType, { binary: containsCidr }),
      ],
    },
    { name: "ip", overloads: [member("cidr_ip", [cidrType], ipType, { unary: addressOf })] },
    {
      name: "prefixLength",
      overloads: [
        member("cidr_prefix_length", [cidrType], intType, {
          unary: (cidr) => (cidr instanceof CidrValue ? BigInt(cidr.network.bits) : noSuchOverload),
        }),
      ],
    },
    {
      name: "masked",
      overloads: [
        member("cidr_masked", [cidrType], cidrType, {
          unary: (cidr) => (cidr instanceof CidrValue ? new CidrValue(maskNetwork(cidr.network)) : noSuchOverload),
        }),
      ],
    },
    {
      name: "isCIDR",
      overloads: [overload("is_cidr", [stringType], boolType, { unary: (text) => !isError(toCidr(text)) })],
    },
    {
      name: "string",
      overloads: [
        overload("cidr_to_string", [cidrType], stringType, {
          unary: (cidr) => (cidr instanceof CidrValue ? cidr.text : noSuchOverload),
        }),
      ],
    },
  ],
};

const parsePrefix = "network address parse error during conversion from string: ";

function toCidr(text: Value): Result {
  if (typeof text !== "string") return noSuchOverload;
  try {
    const network = parseNetwork(text);
    if (!isMappedFour(network.address)) return new CidrValue(network);
    return new EvaluationError(`${parsePrefix}IPv4-mapped IPv6 address ${quoteText(text)} is not allowed`);
  } catch (error) {
    // Upstream says it twice.
    if (error instanceof AddressError) return new EvaluationError(parsePrefix + parsePrefix + error.message);
    throw error;
  }
}

function addressOf(cidr: Value): Result {
  return cidr instanceof CidrValue ? new IpValue(cidr.network.address) : noSuchOverload;
}

function containsIp(cidr: Value, ip: Result): Result {
  if (!(cidr instanceof CidrValue)) return noSuchOverload;
  if (!(ip instanceof IpValue)) return noSuchOverload;
  return sharesBits(cidr.network.address, ip.address, cidr.network.bits);
}

function containsCidr(cidr: Value, other: Result): Result {
  if (!(cidr instanceof CidrValue)) return noSuchOverload;
  if (!(other instanceof CidrValue)) return isError(other) ? other : noSuchOverload;
  const { address, bits } = cidr.network;
  return bits <= other.network.bits && sharesBits(address, other.network.address, bits);
}
