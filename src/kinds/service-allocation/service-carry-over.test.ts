import { describe, expect, test } from "bun:test";
import type { ServiceSpec } from "../../api/types/core-v1.ts";
import { alignClusterIps, dropFieldsOfOldType, keepAllocated } from "./service-carry-over.ts";

const old: ServiceSpec = {
  type: "NodePort",
  clusterIP: "10.0.0.1",
  clusterIPs: ["10.0.0.1", "fd00::1"],
  ipFamilies: ["IPv4", "IPv6"],
  ipFamilyPolicy: "PreferDualStack",
  externalTrafficPolicy: "Cluster",
  ports: [
    { name: "a", port: 80, protocol: "TCP", nodePort: 30_001 },
    { name: "b", port: 81, protocol: "TCP", nodePort: 30_002 },
  ],
};

describe("a PUT keeps", () => {
  test.each([
    ["addresses", { type: "NodePort" }, { clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1", "fd00::1"] }],
    ["no addresses of another Service", { type: "NodePort", clusterIP: "10.0.0.9" }, { clusterIP: "10.0.0.9" }],
    ["none without need", { type: "ExternalName" }, { type: "ExternalName" }],
    [
      "node ports by the names of ports",
      {
        type: "NodePort",
        ports: [
          { name: "b", port: 9 },
          { name: "new", port: 10 },
        ],
      },
      {
        ports: [
          { name: "b", port: 9, nodePort: 30_002 },
          { name: "new", port: 10 },
        ],
      },
    ],
    [
      "no node port that another port has taken over",
      {
        type: "LoadBalancer",
        ports: [
          { name: "a", port: 80 },
          { name: "b", port: 81, nodePort: 30_001 },
        ],
      },
      {
        ports: [
          { name: "a", port: 80 },
          { name: "b", port: 81, nodePort: 30_001 },
        ],
      },
    ],
  ])("%s", (_, spec: ServiceSpec, expected) => {
    const result = structuredClone(spec);
    keepAllocated(result, old);
    expect(result).toMatchObject(expected);
    expect((result.ports ?? []).length).toBe((spec.ports ?? []).length);
  });
});

test.each([
  [undefined, { clusterIP: "a" }, ["a"]],
  [undefined, { clusterIPs: ["a"] }, ["a"]],
  [{ clusterIP: "a", clusterIPs: ["a"] }, { clusterIP: "b", clusterIPs: ["a"] }, ["b"]],
  [{ clusterIP: "a", clusterIPs: ["a"] }, { clusterIP: "b", clusterIPs: ["c"] }, ["c"]],
  [{ clusterIP: "a", clusterIPs: ["a", "z"] }, { clusterIP: "", clusterIPs: ["a", "z"] }, undefined],
  [{ clusterIP: "a", clusterIPs: ["a"] }, { clusterIP: "a", clusterIPs: ["a", "z"] }, ["a", "z"]],
])("over %j a client's %j has the list %j", (before, spec: ServiceSpec, list) => {
  const result = structuredClone(spec);
  alignClusterIps(result, before);
  expect(result.clusterIPs).toEqual(list as never);
});

describe("a change of the type drops", () => {
  const changed = (change: object) => {
    const spec = { ...structuredClone(old), ...change } as ServiceSpec;
    dropFieldsOfOldType(spec, old);
    return spec;
  };

  test("node ports and the policy for traffic from outside", () => {
    const { ports, externalTrafficPolicy, clusterIP } = changed({ type: "ClusterIP" });
    expect(ports?.map(({ nodePort }) => nodePort)).toEqual([undefined, undefined]);
    expect([externalTrafficPolicy, clusterIP]).toEqual([undefined, "10.0.0.1"]);
  });

  test("addresses", () => {
    const spec = changed({ type: "ExternalName" });
    expect(spec).not.toContainAnyKeys(["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"]);
  });

  test("nothing that the client has changed, which validation judges", () => {
    expect(changed({ type: "ExternalName", clusterIP: "10.0.0.7" }).clusterIP).toBe("10.0.0.7");
    const ports = [{ name: "a", port: 80, protocol: "TCP", nodePort: 30_005 }];
    expect(changed({ type: "ClusterIP", ports }).ports).toEqual(ports);
  });

  test("nothing without a change", () => {
    expect(changed({})).toEqual(old);
  });
});
