import { expect, test } from "bun:test";
import { nodeCidrRangesOf } from "./node-cidr-ranges.ts";

test("each family has its range and the prefix of its nodes", () => {
  const ranges = nodeCidrRangesOf({
    allocateNodeCidrs: true,
    clusterCidr: "10.244.0.0/16, fd00::/56",
    nodeCidrMaskSizeIpv4: 26,
  });
  expect(ranges.map(({ cidr, nodePrefixBits }) => [cidr.family, cidr.prefixBits, nodePrefixBits])).toEqual([
    ["IPv4", 16, 26],
    ["IPv6", 56, 64],
  ]);
  expect(nodeCidrRangesOf({ clusterCidr: "10.244.0.0/16" })).toEqual([]);
});

test.each([
  [{}, "--allocate-node-cidrs needs --cluster-cidr"],
  [{ clusterCidr: "x" }, '--cluster-cidr: "x" is not a CIDR'],
  [{ clusterCidr: "10.0.0.0/16,10.1.0.0/16" }, "--cluster-cidr: give one range, or one IPv4 and one IPv6 range"],
  [{ clusterCidr: "10.0.0.0/25" }, "--node-cidr-mask-size-ipv4: 24 is shorter than the prefix of --cluster-cidr"],
  [{ clusterCidr: "fd00::/40" }, "--node-cidr-mask-size-ipv6: 64 makes too many parts: give at most 56"],
])("%p is refused: %s", (options, message) => {
  expect(() => nodeCidrRangesOf({ allocateNodeCidrs: true, ...options })).toThrow(message);
});
