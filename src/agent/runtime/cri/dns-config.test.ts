import { describe, expect, test } from "bun:test";
import type { PodSpec } from "../../../api/types/core-v1.ts";
import { dnsConfigOf, parseResolvConf } from "./dns-config.ts";

const host = parseResolvConf("nameserver 192.0.2.1\nsearch example.com\noptions timeout:2\n");
const cluster = { servers: ["10.0.0.10"], domain: "cluster.local" };

function dnsOf(spec: Partial<PodSpec>, options = cluster) {
  const metadata = { name: "p", namespace: "ns" };
  return dnsConfigOf({ kind: "Pod", apiVersion: "v1", metadata, spec: { containers: [], ...spec } }, host, options);
}

test("resolv.conf: the last search line counts, and the last option of a name", () => {
  const text = `# a comment
nameserver 192.0.2.1
nameserver 2001:db8::1
search old.example.com
search example.com. . sub.example.com
options ndots:1 timeout:2
options ndots:3
nameserver
`;
  expect(parseResolvConf(text)).toEqual({
    servers: ["192.0.2.1", "2001:db8::1"],
    searches: ["example.com", "sub.example.com"],
    options: ["ndots:3", "timeout:2"],
  });
});

describe("a pod's resolver", () => {
  test("is the cluster's by default", () => {
    expect(dnsOf({ dnsPolicy: "ClusterFirst" })).toEqual({
      servers: ["10.0.0.10"],
      searches: ["ns.svc.cluster.local", "svc.cluster.local", "cluster.local", "example.com"],
      options: ["ndots:5"],
    });
    expect(dnsOf({ dnsPolicy: "ClusterFirstWithHostNet", hostNetwork: true }).servers).toEqual(["10.0.0.10"]);
  });

  test("is the node's on its network, by its policy, and without a cluster's", () => {
    expect(dnsOf({ dnsPolicy: "ClusterFirst", hostNetwork: true })).toEqual(host);
    expect(dnsOf({ dnsPolicy: "Default" })).toEqual(host);
    expect(dnsOf({}, { ...cluster, servers: [] })).toEqual(host);
  });

  test("has what the pod adds", () => {
    const dnsConfig = {
      nameservers: ["192.0.2.9"],
      searches: ["own.example.com"],
      options: [{ name: "ndots", value: "2" }, { name: "edns0" }],
    };
    expect(dnsOf({ dnsPolicy: "None", dnsConfig })).toEqual({
      servers: ["192.0.2.9"],
      searches: ["own.example.com"],
      options: ["ndots:2", "edns0"],
    });
    expect(dnsOf({ dnsPolicy: "Default", dnsConfig }).options).toEqual(["timeout:2", "ndots:2", "edns0"]);
  });

  test("keeps within the bounds of resolvers", () => {
    const searches = Array.from({ length: 40 }, (_, at) => `${"x".repeat(90)}${at}.example.com`);
    const nameservers = ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"];
    const dns = dnsOf({ dnsPolicy: "None", dnsConfig: { nameservers, searches: ["y".repeat(254), ...searches] } });
    expect(dns.servers).toHaveLength(3);
    expect(dns.searches?.[0]).toBe(searches[0] as string);
    expect(dns.searches?.join(" ").length).toBeLessThanOrEqual(2_048);
  });
});
