import { expect, test } from "bun:test";
import { isSilent, observedHealth, silentConditions } from "./node-health.ts";
import { nodeLifecycleDefaults } from "./node-lifecycle-settings.ts";
import { nodeStateOf, zoneOf } from "./node-state.ts";

const created = "2026-01-01T00:00:00Z";
const createdMs = Date.parse(created);
const ready = (lastHeartbeatTime: string, status = "True") => ({ type: "Ready", status, lastHeartbeatTime });
const state = (...conditions: ReturnType<typeof ready>[]) =>
  nodeStateOf({
    kind: "Node",
    apiVersion: "v1",
    metadata: { name: "a", uid: "u", creationTimestamp: created },
    status: { conditions },
  });
const at = (seconds: number) => ({ steadyMs: 5_000_000 + seconds * 1_000, nowMs: createdMs + seconds * 1_000 });

test("a node that reports counts from when it is first seen, one that does not from its creation", () => {
  expect(observedHealth(undefined, state(ready("old")), undefined, at(100)).probeMs).toBe(at(100).steadyMs);
  expect(observedHealth(undefined, state(), undefined, at(100)).probeMs).toBe(at(0).steadyMs);
});

test.each([
  ["a new heartbeat", state(ready("t2")), "r1", 30],
  ["a renewed Lease", state(ready("t1")), "r2", 30],
  ["an older Lease", state(ready("t1")), "r0", 10],
  ["a Lease that is gone", state(ready("t1")), undefined, 10],
  ["nothing new", state(ready("t1", "False")), "r1", 10],
])("%s is a sign of life, or none", (_, node, renewTime, seconds) => {
  const known = observedHealth(undefined, state(ready("t1")), "r1", at(10));
  expect(observedHealth(known, node, renewTime, at(30)).probeMs).toBe(at(seconds).steadyMs);
});

test("the first report of a node is a sign of life", () => {
  const known = observedHealth(undefined, state(), undefined, at(20));
  expect(observedHealth(known, state(ready("t1")), undefined, at(40)).probeMs).toBe(at(40).steadyMs);
});

test.each([
  [state(ready("t1")), 50, false],
  [state(ready("t1")), 51, true],
  [state(), 60, false],
  [state(), 61, true],
])("a node is silent after its time", (node, seconds, expected) => {
  const health = observedHealth(undefined, node, undefined, at(0));
  expect(isSilent(health, at(seconds).steadyMs, nodeLifecycleDefaults)).toBe(expected);
});

test("conditions that are Unknown already keep their reason, and others of the node are left alone", () => {
  const conditions = [
    { type: "NetworkUnavailable", status: "False", reason: "Routed" },
    { type: "DiskPressure", status: "Unknown", reason: "Mine" },
    { type: "Ready", status: "False", reason: "KubeletNotReady", lastHeartbeatTime: "t1" },
  ];
  expect(
    silentConditions(conditions, created, "now")?.map(({ type, status, reason }) => [type, status, reason]),
  ).toEqual([
    ["NetworkUnavailable", "False", "Routed"],
    ["DiskPressure", "Unknown", "Mine"],
    ["Ready", "Unknown", "NodeStatusUnknown"],
    ["MemoryPressure", "Unknown", "NodeStatusNeverUpdated"],
    ["PIDPressure", "Unknown", "NodeStatusNeverUpdated"],
  ]);
  expect(silentConditions([ready("t1", "Unknown")], created, "now")).toBeUndefined();
});

test.each([
  [{}, ""],
  [{ "topology.kubernetes.io/zone": "z" }, ":\0:z"],
  [{ "topology.kubernetes.io/region": "r", "topology.kubernetes.io/zone": "z" }, "r:\0:z"],
  [{ "topology.kubernetes.io/zone": "z", "failure-domain.beta.kubernetes.io/zone": "old" }, ":\0:old"],
])("the zone of labels %p is %p", (labels, zone) => expect(zoneOf(labels)).toBe(zone));
