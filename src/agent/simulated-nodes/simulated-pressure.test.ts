import { expect, test } from "bun:test";
import type { Node } from "../../api/types/core-v1.ts";
import { ManualClock, settle } from "../../storage/cacher/testing.ts";
import { availableAnnotation, SimulatedPressure } from "./simulated-pressure.ts";

test("a node is short of what its annotation says, until some time after that is gone", async () => {
  const clock = new ManualClock();
  const problems: unknown[] = [];
  let changes = 0;
  const node: Node = {
    kind: "Node",
    apiVersion: "v1",
    metadata: { name: "node-1" },
    status: { capacity: { memory: "32Gi", "ephemeral-storage": "100Gi" } },
  };
  using pressure = new SimulatedPressure((name) => (name === "node-1" ? node : undefined));
  pressure.add("node-1", {
    runtime: { stats: async () => [] },
    pods: { activePods: () => [], find: () => undefined, evict() {} },
    files: {},
    logDirectory: "/nonexistent",
    clock,
    warn() {},
    record() {},
    changed: () => changes++,
    onError: (error) => problems.push(error),
  });
  const live = async (seconds: number) => {
    for (let passed = 0; passed < seconds; passed++) {
      clock.advance(1_000);
      await settle(10);
    }
  };
  await live(20);
  expect(pressure.pressuresOf("node-1").size).toBe(0);
  node.metadata.annotations = { [availableAnnotation]: "memory.available=50Mi,nodefs.available=5%" };
  await live(2);
  expect([...pressure.pressuresOf("node-1")]).toEqual(["MemoryPressure", "DiskPressure"]);
  node.metadata.annotations = { [availableAnnotation]: "memory=1" };
  await live(12);
  expect(problems).toEqual([
    new Error('annotation simulation.quorate/available: "memory=1" is not <signal>=<quantity or percentage>'),
  ]);
  node.metadata.annotations = {};
  await live(320);
  expect([pressure.pressuresOf("node-1").size, changes]).toEqual([0, 2]);
  expect(pressure.pressuresOf("other").size).toBe(0);
});
