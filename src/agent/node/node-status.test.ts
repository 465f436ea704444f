import { expect, test } from "bun:test";
import type { JsonObject } from "../../api/json.ts";
import type { RuntimeFeatures } from "../runtime/runtime.ts";
import { evaluateStatus, newNode, reconciliation } from "./node-status.ts";
import { statusPatch } from "./status-patch.ts";
import { machineInfo, nodeSettings } from "./testing.ts";

const [first, later] = ["2026-01-01T00:00:00Z", "2026-01-01T00:00:10Z"];
const observation = {
  machine: machineInfo,
  runtimeVersion: "simulated://1",
  images: [],
  features: undefined as RuntimeFeatures | undefined,
  pressures: new Set<never>(),
  problems: [],
};
const status = (now = first, change: Partial<typeof observation> = {}, settings = nodeSettings) =>
  evaluateStatus({}, settings, { ...observation, ...change }, now).status;

test("pods may have what the machine has, without what is reserved and kept free", () => {
  const settings = { ...nodeSettings, podsMax: 50, reserved: { cpu: "500m", memory: "1Gi" } };
  const machine = { ...machineInfo, capacity: { ...machineInfo.capacity, "hugepages-2Mi": "512Mi" } };
  const { capacity, allocatable } = status(first, { machine }, settings);
  expect(capacity).toEqual({
    cpu: "4",
    memory: "8Gi",
    "ephemeral-storage": "100Gi",
    "hugepages-2Mi": "512Mi",
    pods: "50",
  });
  expect(allocatable).toEqual({
    cpu: "3500m",
    memory: "6556Mi",
    "ephemeral-storage": "90Gi",
    "hugepages-2Mi": "512Mi",
    pods: "50",
  });
});

test("a node reports its addresses, its port and its machine", () => {
  expect(status()).toMatchObject({
    addresses: [
      { type: "InternalIP", address: "10.0.0.5" },
      { type: "Hostname", address: "node-1" },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: 10_250 } },
    nodeInfo: {
      bootID: "b",
      containerRuntimeVersion: "simulated://1",
      kubeletVersion: "v1.36.2",
      kubeProxyVersion: "",
    },
  });
});

test("a node reports its 50 largest images, each with five names", () => {
  const images = Array.from({ length: 60 }, (_, at) => ({
    names: Array.from({ length: 7 }, (_, name) => `image-${at}:${name}`),
    sizeBytes: at,
  }));
  const reported = status(first, { images: images as never }).images ?? [];
  expect([reported.length, reported[0]?.sizeBytes, reported[0]?.names?.length]).toEqual([50, 59, 5]);
});

test("a node reports what its runtime can do", () => {
  const features = { handlers: ["", "kata"], supplementalGroupsPolicy: true };
  const handler = { features: { recursiveReadOnlyMounts: false, userNamespaces: false } };
  expect(status(first, { features })).toMatchObject({
    features: { supplementalGroupsPolicy: true },
    runtimeHandlers: [
      { name: "", ...handler },
      { name: "kata", ...handler },
    ],
  });
  expect(Object.keys(status())).not.toContain("features");
  expect(status(first, { features: { ...features, handlers: [] } }).runtimeHandlers).toBeUndefined();
});

test("a machine without memory keeps its node from being ready", () => {
  const machine = { ...machineInfo, capacity: { cpu: "4" } };
  expect(status(first, { machine }).conditions?.[3]).toMatchObject({
    status: "False",
    message: "missing node capacity for resources: memory",
  });
});

test("resources that others have added stay, and pods may have all of them", () => {
  const capacity = { ...status().capacity, "example.com/gpu": "4" };
  const next = evaluateStatus({ ...status(), capacity }, nodeSettings, observation, later).status;
  expect(next.capacity).toEqual(capacity);
  expect(next.allocatable).toMatchObject({ "example.com/gpu": "4" });
});

test("a new boot id shows that the machine was started again", () => {
  const machine = { ...machineInfo, bootId: "other" };
  expect(evaluateStatus(status(), nodeSettings, { ...observation, machine }, later).isRebooted).toBe(true);
  expect(evaluateStatus(status(), nodeSettings, observation, later).isRebooted).toBe(false);
  expect(evaluateStatus({}, nodeSettings, observation, later).isRebooted).toBe(false);
});

test("a patch has only what changed; new heartbeats wait until a report is due", () => {
  const old = status();
  const { status: next } = evaluateStatus(old, nodeSettings, observation, later);
  expect(statusPatch(old, next, false)).toBeUndefined();
  expect(statusPatch(old, next, true)).toEqual({
    status: { conditions: (next.conditions ?? []) as unknown as JsonObject[] },
  });
  const [memory, ...others] = next.conditions ?? [];
  const changed = { ...next, conditions: [{ ...memory, status: "True" }, ...others] };
  expect(statusPatch(old, changed as typeof next, false)).toMatchObject({
    status: { conditions: [{ type: "MemoryPressure", status: "True", lastHeartbeatTime: later }, {}, {}, {}] },
  });
});

test("a patch replaces the addresses, and removes resources that are gone", () => {
  const old = { ...status(), capacity: { cpu: "4", "example.com/gpu": "1" } };
  const next = { ...old, capacity: { cpu: "8" }, addresses: [{ type: "Hostname", address: "x" }] };
  expect(statusPatch(old, next, false)).toEqual({
    status: {
      capacity: { cpu: "8", "example.com/gpu": null },
      addresses: [{ type: "Hostname", address: "x" }, { $patch: "replace" }],
    },
  });
});

test("a registered node gets new labels of the default set, and keeps the others", () => {
  const wanted = newNode({ ...nodeSettings, labels: { "topology.kubernetes.io/zone": "a", team: "x" } }, machineInfo);
  expect(reconciliation(wanted, wanted)).toBeUndefined();
  const existing = {
    ...wanted,
    metadata: {
      ...wanted.metadata,
      labels: { "kubernetes.io/hostname": "old", "node.kubernetes.io/instance-type": "big", mine: "kept" },
    },
  };
  expect(reconciliation(existing, wanted)).toEqual({
    labels: {
      "kubernetes.io/hostname": "node-1",
      "topology.kubernetes.io/zone": "a",
      "kubernetes.io/os": "linux",
      "kubernetes.io/arch": "amd64",
      "beta.kubernetes.io/os": "linux",
      "beta.kubernetes.io/arch": "amd64",
    },
    annotations: {},
  });
});
