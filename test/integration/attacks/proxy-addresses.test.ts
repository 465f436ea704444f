import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { NodeAgent } from "../node-agent.ts";
import { pod, TestServer } from "../server.ts";

const notAllowed = "address not allowed";
let server: TestServer;
/** It listens where an attacker would like to get: at the loopback address of the server. */
let inside: NodeAgent;
let namespace: string;

beforeAll(async () => {
  [server, inside] = await Promise.all([TestServer.start(), NodeAgent.start()]);
  namespace = await server.namespace();
});
afterAll(async () => {
  await inside[Symbol.asyncDispose]();
  await server.close();
});

/** Creates a node that claims the address, and the port of the kubelet that its writer chose. */
async function nodeAt(type: string, address: string): Promise<string> {
  const status = { addresses: [{ type, address }], daemonEndpoints: { kubeletEndpoint: { Port: inside.port } } };
  const { metadata } = await server.create("/api/v1/nodes", { metadata: { generateName: "n-" }, status });
  return metadata.name;
}

const addresses = [
  ["127.0.0.1"],
  ["127.8.9.10"],
  ["::1"],
  ["0.0.0.0"],
  ["::"],
  ["::ffff:127.0.0.1"],
  ["::ffff:7f00:1"],
  ["169.254.169.254"],
  ["::ffff:169.254.169.254"],
  ["fe80::1"],
  ["224.0.0.1"],
  ["ff02::1"],
] as const;

describe("attack 67, CVE-2020-8555, CVE-2022-3294: a proxy reaches neither the server's host nor its link", () => {
  test.each(addresses)("a node at %s", async (address) => {
    const name = await nodeAt("InternalIP", address);
    for (const path of [
      `${name}/proxy/`,
      `${name}:${inside.port}/proxy/`,
      `https:${name}:${inside.port}/proxy/metrics`,
    ]) {
      const { code, json } = await server.get(`/api/v1/nodes/${path}`);
      expect([code, json.message]).toEqual([400, notAllowed]);
    }
    expect(inside.seen).toEqual([]);
  });

  test.each([["localhost"], ["127.1"], ["2130706433"], ["0x7f000001"], ["0177.0.0.1"]])(
    "CVE-2020-8562: a node named %s, whose address is the one that was checked",
    async (address) => {
      const name = await nodeAt("Hostname", address);
      const { code } = await server.get(`/api/v1/nodes/https:${name}:${inside.port}/proxy/`);
      expect(code).toBe(400);
      expect(inside.seen).toEqual([]);
    },
  );

  test.each([["127.0.0.1"], ["169.254.169.254"], ["::1"], ["fe80::1"]])("a pod at %s", async (address) => {
    const pods = `/api/v1/namespaces/${namespace}/pods`;
    const { metadata } = await server.create(pods, pod("", {}, { name: undefined, generateName: "p-" }));
    const path = `${pods}/${metadata.name}`;
    const { json } = await server.get(path);
    const status = { ...json.status, podIP: address, podIPs: [{ ip: address }] };
    expect((await server.put(`${path}/status`, { ...json, status })).code).toBe(200);
    const answer = await server.get(`${pods}/https:${metadata.name}:${inside.port}/proxy/`);
    expect([answer.code, answer.json.message]).toEqual([400, notAllowed]);
    expect(inside.seen).toEqual([]);
  });
});

describe("CVE-2021-25737: endpoints are neither the server's host nor its link", () => {
  const loopback = "may not be in the loopback range (127.0.0.0/8, ::1/128)";
  const linkLocal = "may not be in the link-local range (169.254.0.0/16, fe80::/10)";
  test.each([
    ["IPv4", "127.0.0.1", loopback],
    ["IPv4", "169.254.169.254", linkLocal],
    ["IPv6", "::1", loopback],
    ["IPv6", "fe80::1", linkLocal],
    ["IPv6", "::ffff:127.0.0.1", "must not be an IPv4-mapped IPv6 address"],
  ])("%s address %s", async (addressType, address, why) => {
    const metadata = { name: "evil", labels: { "kubernetes.io/service-name": "evil" } };
    const slice = { metadata, addressType, endpoints: [{ addresses: [address] }], ports: [] };
    const inSlice = await server.post(`/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`, slice);
    expect([inSlice.code, inSlice.json.message]).toEqual([422, expect.stringContaining(why)]);
    const subsets = [{ addresses: [{ ip: address }] }];
    const endpoints = await server.post(`/api/v1/namespaces/${namespace}/endpoints`, { metadata, subsets });
    expect([endpoints.code, endpoints.json.message]).toEqual([422, expect.stringContaining(why)]);
  });
});
