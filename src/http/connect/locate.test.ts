import { describe, expect, test } from "bun:test";
import type { KubeObject } from "../../api/object-meta.ts";
import { nodeEndpointOf } from "./node-endpoint.ts";
import { containerOf } from "./pod-container.ts";
import { isProxyableIp, proxyableAddress } from "./proxyable-address.ts";
import { splitName } from "./split-name.ts";

const named = (part: object) => ({ metadata: { name: "x" }, ...part }) as unknown as KubeObject;

test.each([
  ["web", { scheme: "", name: "web", port: "" }],
  ["web:80", { scheme: "", name: "web", port: "80" }],
  ["web:http", { scheme: "", name: "web", port: "http" }],
  ["https:web:", { scheme: "https", name: "web", port: "" }],
  ["http:web:80", { scheme: "http", name: "web", port: "80" }],
  [":web:80", { scheme: "", name: "web", port: "80" }],
  ["", undefined],
  [":80", undefined],
  ["ftp:web:80", undefined],
  ["http::80", undefined],
  ["a:b:c:d", undefined],
])("splitName() reads %j", (text, expected) => {
  expect(splitName(text)).toEqual(expected as never);
});

describe("nodeEndpointOf()", () => {
  const addresses = [
    { type: "ExternalIP", address: "192.0.2.1" },
    { type: "InternalIP", address: "10.0.0.1" },
    { type: "Hostname", address: "" },
  ];

  test("takes the first preferred address of the node, and the port in its status", () => {
    expect(nodeEndpointOf({ status: { addresses } })).toEqual({ host: "10.0.0.1", port: 10_250 });
    const host = { type: "Hostname", address: "n1" };
    const status = { addresses: [...addresses, host], daemonEndpoints: { kubeletEndpoint: { Port: 7 } } };
    expect(nodeEndpointOf({ status })).toEqual({ host: "n1", port: 7 });
    expect(nodeEndpointOf({ status }, ["InternalIP", "Hostname"]).host).not.toBe("n1");
  });

  test("names the addresses that it knows if none of them answers", () => {
    const status = { addresses: [{ type: "Pager", address: "5" }] };
    expect(() => nodeEndpointOf({ status })).toThrow("no preferred addresses found; known addresses: [{Pager 5}]");
  });
});

describe("containerOf()", () => {
  const pod = named({
    spec: {
      containers: [{ name: "a" }, { name: "b" }],
      initContainers: [{ name: "i" }],
      ephemeralContainers: [{ name: "e" }],
    },
  });

  test.each(["a", "b", "i", "e"])("finds %s", (name) => {
    expect(containerOf(pod, name)).toBe(name);
  });

  test("takes the only one, and needs a name among several or none", () => {
    expect(containerOf(named({ spec: { containers: [{ name: "a" }] } }), "")).toBe("a");
    expect(() => containerOf(named({ spec: {} }), "")).toThrow("a container name must be specified for pod x");
    expect(() => containerOf(named({ spec: { containers: [{ name: "a" }, { name: "b" }] } }), "")).toThrow(
      "a container name must be specified for pod x, choose one of: [a b]",
    );
  });
});

test.each([
  "127.0.0.1",
  "127.8.9.1",
  "::1",
  "0.0.0.0",
  "169.254.169.254",
  "fe80::1",
  "224.0.0.1",
  "::ffff:127.0.0.1",
  "x",
])("isProxyableIp() refuses %s", (address) => {
  expect(isProxyableIp(address)).toBe(false);
});

test("a name does not bypass the check", async () => {
  await expect(proxyableAddress("localhost")).rejects.toThrow("address not allowed");
  await expect(proxyableAddress("nowhere.invalid")).rejects.toThrow("no such host");
  expect(await proxyableAddress("10.0.0.1")).toBe("10.0.0.1");
});
