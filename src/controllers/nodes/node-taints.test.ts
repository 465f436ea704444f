import { expect, test } from "bun:test";
import { changedTaints, notReadyTaint, schedulingTaints, unreachableTaint } from "./node-taints.ts";

const node = (conditions: readonly [type: string, status: string][], spec: object = {}) => ({
  kind: "Node",
  apiVersion: "v1",
  metadata: { name: "a" },
  spec,
  status: { conditions: conditions.map(([type, status]) => ({ type, status })) },
});

test.each([
  [[["Ready", "True"]], []],
  [[["Ready", "False"]], ["not-ready"]],
  [[["Ready", "Unknown"]], ["unreachable"]],
  [[["MemoryPressure", "True"]], ["memory-pressure"]],
  [[["DiskPressure", "True"]], ["disk-pressure"]],
  [[["PIDPressure", "True"]], ["pid-pressure"]],
  [[["NetworkUnavailable", "True"]], ["network-unavailable"]],
  [[["NetworkUnavailable", "Unknown"]], []],
  [[["Custom", "True"]], []],
] as const)("conditions %p ask for the taints %p", (conditions, keys) => {
  const taints = schedulingTaints(node(conditions as never), "now");
  const expected = keys.map((key) => ({ key: `node.kubernetes.io/${key}`, effect: "NoSchedule", timeAdded: "now" }));
  expect(taints).toEqual(expected);
});

test("a node whose taints are right keeps them as they are", () => {
  const taints = [{ key: "node.kubernetes.io/not-ready", effect: "NoSchedule", timeAdded: "before" }];
  expect(schedulingTaints(node([["Ready", "False"]], { taints }), "now")).toBe(taints);
});

test("a change replaces the opposite taint, and leaves those with another effect", () => {
  const soft = { key: unreachableTaint.key, effect: "NoSchedule" };
  const taints = [soft, { ...unreachableTaint, timeAdded: "before" }];
  const change = { added: [notReadyTaint], removed: [unreachableTaint] };
  expect(changedTaints(taints, change, "now")).toEqual([soft, { ...notReadyTaint, timeAdded: "now" }]);
});
