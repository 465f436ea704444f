import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { container, PodFixture } from "./testing.ts";

let node: PodFixture;

beforeEach(async () => {
  node = new PodFixture();
  await node.open();
});
afterEach(() => node[Symbol.dispose]());

describe("an eviction", () => {
  const eviction = { message: "The node was low on resource: memory. ", graceSeconds: 1, isDisruption: true };

  test("ends a pod within its grace period, and says why when it has ended", async () => {
    node.runtime.scripts.set("web", { stopMs: 1_500 });
    await node.create("p");
    node.manager.evict("uid-p", eviction);
    await node.settle();
    expect(node.runtime.log).toContain("stop web#0 2");
    expect(node.status("p")).toMatchObject({ phase: "Running" });
    await node.pass(2);
    const { phase, reason, message, conditions = [] } = node.status("p");
    expect({ phase, reason, message }).toEqual({ phase: "Failed", reason: "Evicted", message: eviction.message });
    expect(conditions.find(({ type }) => type === "DisruptionTarget")).toMatchObject({
      status: "True",
      reason: "TerminationByKubelet",
      message: eviction.message,
    });
    expect(node.manager.activePods()).toEqual([]);
  });

  test("leaves no condition on a pod that is to blame itself, and may shorten a deletion", async () => {
    node.runtime.scripts.set("web", { stopMs: 20_000 });
    await node.create("p");
    await node.delete("p", 60);
    node.manager.evict("uid-p", { ...eviction, isDisruption: false });
    await node.settle();
    expect(node.runtime.log.filter((line) => line.startsWith("stop web"))).toEqual(["stop web#0 60", "stop web#0 2"]);
    await node.pass(21);
    const statuses = node.patches.map(({ status }) => status as { phase?: string; reason?: string });
    expect(statuses.find(({ phase }) => phase === "Failed")).toMatchObject({ reason: "Evicted" });
    expect(JSON.stringify(node.patches)).not.toContain("DisruptionTarget");
  });

  test("is the answer to a pod that comes to a node under pressure", async () => {
    node.pressures.add("MemoryPressure");
    await node.create("p");
    expect(node.status("p")).toMatchObject({
      phase: "Failed",
      reason: "Evicted",
      message: "Pod was rejected: The node had condition: [MemoryPressure]. ",
    });
    const tolerations = [{ key: "node.kubernetes.io/memory-pressure", operator: "Exists" as const }];
    await node.create("tolerates", { tolerations });
    const resources = { requests: { memory: "1Gi" } };
    node.node = { ...node.node, status: { allocatable: { memory: "8Gi", cpu: "8" } } };
    await node.create("requests", { containers: [container("web", { resources })] });
    await node.create("critical", { priority: 2_000_000_000 });
    node.pressures.add("DiskPressure");
    await node.create("later", { tolerations });
    const phases = ["tolerates", "requests", "critical", "later"].map((name) => node.status(name).phase);
    expect(phases).toEqual(["Running", "Running", "Running", "Failed"]);
  });
});
