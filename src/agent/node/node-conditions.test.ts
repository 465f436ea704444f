import { expect, test } from "bun:test";
import type { NodeCondition } from "../../api/types/core-v1.ts";
import { evaluateConditions } from "./node-conditions.ts";

const none: ReadonlySet<never> = new Set();
const [first, later] = ["2026-01-01T00:00:00Z", "2026-01-01T00:00:10Z"];
const healthy = () => evaluateConditions([], { pressures: none, problems: [] }, first).conditions;
const brief = (conditions: readonly NodeCondition[]) => conditions.map(({ type, status }) => `${type} ${status}`);

test("a new node has the four conditions in upstream's order, and no Event about readiness", () => {
  const { conditions, events } = evaluateConditions([], { pressures: none, problems: [] }, first);
  expect(brief(conditions)).toEqual(["MemoryPressure False", "DiskPressure False", "PIDPressure False", "Ready True"]);
  expect(conditions[3]).toEqual({
    type: "Ready",
    status: "True",
    lastHeartbeatTime: first,
    lastTransitionTime: first,
    reason: "KubeletReady",
    message: "kubelet is posting ready status",
  });
  expect(events).toEqual(["NodeHasSufficientMemory", "NodeHasNoDiskPressure", "NodeHasSufficientPID"]);
});

test("a heartbeat changes only its time", () => {
  const { conditions, events } = evaluateConditions(healthy(), { pressures: none, problems: [] }, later);
  expect(conditions).toEqual(healthy().map((condition) => ({ ...condition, lastHeartbeatTime: later })));
  expect(events).toEqual([]);
});

test.each([
  ["MemoryPressure", "KubeletHasInsufficientMemory", "NodeHasInsufficientMemory"],
  ["DiskPressure", "KubeletHasDiskPressure", "NodeHasDiskPressure"],
  ["PIDPressure", "KubeletHasInsufficientPID", "NodeHasInsufficientPID"],
] as const)("%s appears with its reason and its Event", (type, reason, event) => {
  const found = evaluateConditions(healthy(), { pressures: new Set([type]), problems: [] }, later);
  expect(found.conditions.find((condition) => condition.type === type)).toMatchObject({
    status: "True",
    reason,
    lastTransitionTime: later,
  });
  expect(found.events).toEqual([event]);
});

test("a node with problems is not ready, and says why", () => {
  const one = evaluateConditions(healthy(), { pressures: none, problems: ["a"] }, later);
  expect(one.conditions[3]).toMatchObject({ status: "False", reason: "KubeletNotReady", message: "a" });
  expect(one.events).toEqual(["NodeNotReady"]);
  const two = evaluateConditions(one.conditions, { pressures: none, problems: ["a", "b", "a"] }, later);
  expect([two.conditions[3]?.message, two.events]).toEqual(["[a, b]", []]);
  expect(evaluateConditions(two.conditions, { pressures: none, problems: [] }, later).events).toEqual(["NodeReady"]);
});

test("a node that was declared Unknown becomes ready again, and conditions of others stay", () => {
  const other = { type: "NetworkUnavailable", status: "False" };
  const unknown = healthy().map((condition) => ({ ...condition, status: "Unknown" }));
  const { conditions, events } = evaluateConditions([other, ...unknown], { pressures: none, problems: [] }, later);
  expect(conditions[0]).toBe(other);
  expect(brief(conditions)).toContain("Ready True");
  expect(events).toContain("NodeReady");
});
