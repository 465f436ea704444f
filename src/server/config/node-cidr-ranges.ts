import { type Cidr, parseCidr } from "../../api/validation/ip.ts";
import { type NodeCidrRange, nodeBitsMax } from "../../controllers/nodes/cidr-set.ts";
import { StartupError } from "../../process/startup-error.ts";
import type { FlagOptions } from "./flags.ts";
import { nodeFlags } from "./node-flags.ts";

/**
 * Returns the ranges of which nodes get parts; none unless `--allocate-node-cidrs` is given.
 * @throws StartupError that names the flag, the mistake and the remedy
 */
export function nodeCidrRangesOf(options: FlagOptions): readonly NodeCidrRange[] {
  if (options.allocateNodeCidrs !== true) return [];
  if (options.clusterCidr === undefined) {
    throw new StartupError("--allocate-node-cidrs needs --cluster-cidr: give a range such as 10.244.0.0/16");
  }
  const cidrs = options.clusterCidr.split(",").map((text) => parseRange(text.trim()));
  if (cidrs.length > 2 || new Set(cidrs.map(({ family }) => family)).size < cidrs.length) {
    throw new StartupError("--cluster-cidr: give one range, or one IPv4 and one IPv6 range");
  }
  const prefixBits = {
    IPv4: options.nodeCidrMaskSizeIpv4 ?? nodeFlags["node-cidr-mask-size-ipv4"].default,
    IPv6: options.nodeCidrMaskSizeIpv6 ?? nodeFlags["node-cidr-mask-size-ipv6"].default,
  };
  return cidrs.map((cidr) => rangeOf(cidr, prefixBits[cidr.family]));
}

function parseRange(text: string): Cidr {
  const cidr = parseCidr(text);
  if (cidr === undefined) {
    throw new StartupError(`--cluster-cidr: ${JSON.stringify(text)} is not a CIDR: give one such as 10.244.0.0/16`);
  }
  return cidr;
}

function rangeOf(cidr: Cidr, nodePrefixBits: number): NodeCidrRange {
  const flag = `--node-cidr-mask-size-${cidr.family === "IPv4" ? "ipv4" : "ipv6"}`;
  const bits = nodePrefixBits - cidr.prefixBits;
  if (bits < 0) {
    throw new StartupError(
      `${flag}: ${nodePrefixBits} is shorter than the prefix of --cluster-cidr: give at least ${cidr.prefixBits}`,
    );
  }
  const max = nodeBitsMax[cidr.family];
  if (bits > max) {
    throw new StartupError(
      `${flag}: ${nodePrefixBits} makes too many parts: give at most ${cidr.prefixBits + max}, or a smaller --cluster-cidr`,
    );
  }
  return { cidr, nodePrefixBits };
}
