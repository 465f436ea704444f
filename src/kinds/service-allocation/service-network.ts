import { type IpRange, ipRange } from "./ip-range.ts";
import { portRange } from "./node-port-range.ts";
import type { ServiceNetwork } from "./service-allocation.ts";

/** Larger ranges cannot be searched in reasonable time when they are nearly full. */
const ipv4HostBitsMax = 20;
const ipv6HostBitsMax = 64;

/**
 * The texts of `--service-cluster-ip-range` and `--service-node-port-range`.
 * @throws Error naming the flag and what is wrong
 */
export function parseServiceNetwork(clusterIpRange: string, nodePortRange: string): ServiceNetwork {
  const clusterIps = clusterIpRange.split(",").map((text) => parseRange(text.trim()));
  if (clusterIps.length > 2 || new Set(clusterIps.map(({ family }) => family)).size < clusterIps.length) {
    throw new Error("--service-cluster-ip-range: give one range, or one IPv4 and one IPv6 range");
  }
  const nodePorts = portRange(nodePortRange);
  if (nodePorts === undefined) {
    throw new Error(`--service-node-port-range: ${JSON.stringify(nodePortRange)} is not a range such as 30000-32767`);
  }
  return { clusterIps, nodePorts };
}

function parseRange(text: string): IpRange {
  const range = ipRange(text);
  if (range === undefined) {
    throw new Error(`--service-cluster-ip-range: ${JSON.stringify(text)} is not a CIDR such as 10.96.0.0/16`);
  }
  const hostBits = 8 * range.cidr.address.bytes.length - range.cidr.prefixBits;
  const max = range.family === "IPv4" ? ipv4HostBitsMax : ipv6HostBitsMax;
  if (hostBits > max) {
    throw new Error(`--service-cluster-ip-range: ${text} is too large: at most ${max} bits may be left to hosts`);
  }
  return range;
}
