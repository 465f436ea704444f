import { describe, expect, test } from "bun:test";
import { type IpAddress, parseIp } from "../../api/validation/ip.ts";
import { addressesToTry, firstAddress, type IpRange, inRange, ipRange } from "./ip-range.ts";
import { parseServiceNetwork } from "./service-network.ts";

const range = (text: string) => ipRange(text) as IpRange;

describe("a range", () => {
  test.each([
    ["10.0.0.0/24", "10.0.0.1", 16],
    ["10.0.0.0/16", "10.0.0.1", 256],
    ["10.96.0.0/12", "10.96.0.1", 256],
    ["10.0.0.0/22", "10.0.0.1", 64],
    ["10.0.0.16/28", "10.0.0.17", 0],
    ["10.0.0.77/24", "10.0.0.1", 16],
    ["fd00::/108", "fd00::1", 256],
  ])("%s begins with %s and leaves %d addresses to those who ask for one", (text, first, lower) => {
    expect(firstAddress(range(text))).toBe(first);
    expect(Number(range(text).upper - range(text).first)).toBe(lower);
  });

  test.each([
    ["10.0.0.0", false],
    ["10.0.0.1", true],
    ["10.0.0.254", true],
    ["10.0.0.255", false],
    ["10.0.1.1", false],
    ["::1", false],
  ])("10.0.0.0/24 gives out %s: %p", (ip, given) => {
    expect(inRange(range("10.0.0.0/24"), parseIp(ip) as IpAddress)).toBe(given);
  });

  test("gives every address once, the upper band from the random place on, the lower band last", () => {
    const all = [...addressesToTry(range("10.0.0.0/27"), () => 3)];
    expect(all.slice(0, 3)).toEqual(["10.0.0.20", "10.0.0.21", "10.0.0.22"]);
    expect(all[13]).toBe("10.0.0.19");
    expect(all[14]).toBe("10.0.0.4");
    expect(new Set(all).size).toBe(30);
    expect(all.length).toBe(30);
  });

  test("of IPv6 is not searched in order", () => {
    const [first] = addressesToTry(range("fd00::/64"), (below) => below - 1);
    expect(first).toBe("fd00::1:0:ff");
  });

  test.each(["", "10.0.0.0", "10.0.0.0/33", "10.0.0.1/32", "x/8"])("%j is none", (text) => {
    expect(ipRange(text)).toBeUndefined();
  });
});

test.each([
  ["10.0.0.0/16,10.1.0.0/16", "30000-32767", /--service-cluster-ip-range: give one range/],
  ["10.0.0.0/8", "30000-32767", /10\.0\.0\.0\/8 is too large/],
  ["nonsense", "30000-32767", /"nonsense" is not a CIDR/],
  ["10.0.0.0/16", "30000", /--service-node-port-range: "30000"/],
  ["10.0.0.0/16", "2-1", /--service-node-port-range/],
  ["10.0.0.0/16", "0-10", /--service-node-port-range/],
  ["10.0.0.0/16", "1-70000", /--service-node-port-range/],
])("%s and %s are refused", (ips, ports, problem) => {
  expect(() => parseServiceNetwork(ips, ports)).toThrow(problem);
});

test("a network has a range of each family", () => {
  const { clusterIps, nodePorts } = parseServiceNetwork("fd00::/108, 10.0.0.0/16", "30000-32767");
  expect(clusterIps.map(({ family }) => family)).toEqual(["IPv6", "IPv4"]);
  expect(nodePorts).toEqual({ first: 30_000, upper: 30_086, last: 32_767 });
});
