import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { settle } from "../../storage/cacher/testing.ts";
import { NodeLifecycle } from "./node-lifecycle.ts";
import type { NodeLifecycleSettings } from "./node-lifecycle-settings.ts";
import { NodeWorld } from "./testing.ts";

let world: NodeWorld;
let leader: DisposableStack;
let evictions: string[];

beforeEach(async () => {
  world = await NodeWorld.open();
  evictions = [];
});

afterEach(async () => {
  leader.dispose();
  await world[Symbol.asyncDispose]();
});

async function lead(settings: Partial<NodeLifecycleSettings> = {}): Promise<void> {
  leader = new DisposableStack();
  const observer = {
    zoneAdded() {},
    zones() {},
    evicted: (zone: string) => void evictions.push(zone),
    checkedNode() {},
    checkedAll() {},
  };
  const parts = world.parts(leader);
  leader.use(new NodeLifecycle({ ...parts, settings: { ...parts.settings, ...settings }, observer }).start());
  await settle(20);
}

const readyOf = (name: string) => world.node(name)?.status?.conditions?.find(({ type }) => type === "Ready");
const podReady = (name: string) => world.pod(name)?.status?.conditions?.find(({ type }) => type === "Ready");
const healthy =
  (...names: string[]) =>
  async () => {
    for (const name of names) await world.renewLease(name);
  };

describe("a silent node", () => {
  test("becomes Unknown after 50 seconds, with upstream's conditions, taints and Events", async () => {
    await world.createNode("a");
    await world.createNode("b");
    const condition = { type: "Ready", status: "True", reason: "Fine", lastTransitionTime: "1970-01-01T00:00:00Z" };
    await world.createPod("p", "a", {}, { conditions: [condition] });
    await lead();
    await world.passSeconds(50, healthy("b"));
    expect(readyOf("a")?.status).toBe("True");
    await world.passSeconds(6, healthy("b"));
    expect(world.node("a")?.status?.conditions).toEqual([
      {
        type: "Ready",
        status: "Unknown",
        reason: "NodeStatusUnknown",
        message: "Kubelet stopped posting node status.",
        lastHeartbeatTime: "1970-01-01T00:16:40Z",
        lastTransitionTime: "1970-01-01T00:17:35Z",
      },
      ...["MemoryPressure", "DiskPressure", "PIDPressure"].map((type) => ({
        type,
        status: "Unknown",
        reason: "NodeStatusNeverUpdated",
        message: "Kubelet never posted node status.",
        lastHeartbeatTime: "1970-01-01T00:16:40Z",
        lastTransitionTime: "1970-01-01T00:17:35Z",
      })),
    ] as never);
    expect(world.taints("a")).toEqual(["unreachable:NoExecute", "unreachable:NoSchedule"]);
    expect(world.node("a")?.spec?.taints?.every(({ timeAdded }) => timeAdded === "1970-01-01T00:17:35Z")).toBe(true);
    expect(podReady("p")).toMatchObject({
      status: "False",
      reason: "Fine",
      lastTransitionTime: "1970-01-01T00:17:35Z",
    });
    expect(world.taints("b")).toEqual([]);
    expect(world.typedEvents().sort()).toEqual([
      "Normal NodeNotReady Node a status is now: NodeNotReady",
      "Normal RegisteredNode Node a event: Registered Node a in Controller",
      "Normal RegisteredNode Node b event: Registered Node b in Controller",
      "Warning NodeNotReady Node is not ready",
    ]);
    expect(evictions).toEqual([""]);
  });

  test("that never reported becomes Unknown 60 seconds after its creation", async () => {
    await world.createNode("a", "unreported");
    await lead();
    await world.passSeconds(60);
    expect(readyOf("a")).toBeUndefined();
    await world.passSeconds(5);
    expect(readyOf("a")).toMatchObject({ status: "Unknown", reason: "NodeStatusNeverUpdated" });
    await world.passSeconds(60);
    expect(readyOf("a")?.lastTransitionTime).toBe("1970-01-01T00:17:45Z");
  });

  test("loses its taints when it reports again", async () => {
    await world.createNode("a");
    await world.createNode("b");
    await lead();
    await world.passSeconds(60, healthy("b"));
    expect(world.taints("a")).toHaveLength(2);
    await world.report("a", "True");
    await world.passSeconds(6, healthy("b"));
    expect(world.taints("a")).toEqual([]);
    await world.report("a", "False");
    await world.passSeconds(12, healthy("a", "b"));
    expect(world.taints("a")).toEqual(["not-ready:NoExecute", "not-ready:NoSchedule"]);
    await world.passSeconds(60, healthy("b"));
    expect(world.taints("a")).toEqual(["unreachable:NoExecute", "unreachable:NoSchedule"]);
  });

  test("is not silent while it renews its Lease or sends its status", async () => {
    await world.createNode("a");
    await world.createNode("b");
    await lead();
    let seconds = 0;
    await world.passSeconds(200, async () => {
      if (++seconds % 40 === 0) await world.report("a", "True");
      await world.renewLease("b");
    });
    expect([readyOf("a")?.status, readyOf("b")?.status]).toEqual(["True", "True"]);
  });

  test("makes pods not ready that are bound to it later", async () => {
    await world.createNode("a");
    await world.createNode("b");
    await lead();
    await world.passSeconds(60, healthy("b"));
    await world.createPod("p", "", {}, { conditions: [{ type: "Ready", status: "True" }] });
    await world.bindPod("p", "a");
    await settle(20);
    expect(podReady("p")?.status).toBe("False");
  });
});

test("the pods that an earlier leader had no time for become not ready under a new one", async () => {
  const silent = { conditions: [{ type: "Ready", status: "Unknown", lastHeartbeatTime: "1970-01-01T00:00:00Z" }] };
  await world.createNode("a", "True", { status: silent });
  await world.createPod("p", "a", {}, { conditions: [{ type: "Ready", status: "True" }] });
  await lead();
  await world.passSeconds(1);
  expect(podReady("p")?.status).toBe("False");
});

test("the times and rates are those of the settings", async () => {
  for (const name of ["a", "b", "c", "d", "e"]) await world.createNode(name);
  await world.createNode("new", "unreported");
  await lead({ monitorPeriodMs: 1_000, monitorGraceMs: 10_000, startupGraceMs: 4_000, evictionRate: 1 });
  await world.passSeconds(6, healthy("a", "b", "c", "d", "e"));
  expect(readyOf("new")?.status).toBe("Unknown");
  expect(readyOf("a")?.status).toBe("True");
  await world.passSeconds(13, healthy("c", "d", "e"));
  expect(["a", "b", "c", "d", "e"].map((name) => world.taints(name).length)).toEqual([2, 2, 0, 0, 0]);
});

describe("taints that evict", () => {
  const zoneB = { metadata: { labels: { "topology.kubernetes.io/zone": "b" } } };

  test("come one node in ten seconds while the zone is mostly healthy", async () => {
    const names = ["h1", "h2", "h3", "h4", "h5", "h6"];
    for (const name of [...names, "x", "y"]) await world.createNode(name);
    await lead();
    await world.passSeconds(56, healthy(...names));
    const tainted = () => ["x", "y"].filter((name) => world.taints(name).includes("unreachable:NoExecute"));
    expect(tainted()).toHaveLength(1);
    await world.passSeconds(8, healthy(...names));
    expect(tainted()).toHaveLength(1);
    await world.passSeconds(3, healthy(...names));
    expect(tainted()).toHaveLength(2);
    expect(world.taints("x")).toContain("unreachable:NoSchedule");
  });

  test("do not come in a small zone that is mostly silent, nor when no node is ready", async () => {
    for (const name of ["x", "y", "z"]) await world.createNode(name);
    await world.createNode("h");
    await lead();
    await world.passSeconds(120, healthy("h"));
    expect(["x", "y", "z"].filter((name) => world.taints(name).includes("unreachable:NoExecute"))).toEqual([]);
    await world.passSeconds(120);
    expect(evictions).toEqual([]);
  });

  test("are removed when the last node falls silent, and every node gets its whole time when one returns", async () => {
    await world.createNode("a");
    await world.createNode("b", "True", zoneB);
    await lead();
    await world.passSeconds(60, healthy("b"));
    expect(world.taints("a")).toContain("unreachable:NoExecute");
    await world.passSeconds(60);
    expect([...world.taints("a"), ...world.taints("b")]).toEqual(["unreachable:NoSchedule", "unreachable:NoSchedule"]);
    await world.report("b", "True");
    await world.passSeconds(5, healthy("b"));
    expect(world.taints("b")).toEqual([]);
    expect(world.taints("a")).toEqual(["unreachable:NoSchedule"]);
    await world.passSeconds(12, healthy("b"));
    expect(world.taints("a")).toEqual(["unreachable:NoExecute", "unreachable:NoSchedule"]);
  });

  test("of an earlier leader are removed by a new one, which gives every node its whole time", async () => {
    await world.createNode("a");
    await world.createNode("b");
    await lead();
    await world.passSeconds(60, healthy("b"));
    leader.dispose();
    await world.passSeconds(600);
    await lead();
    expect(world.taints("b")).toEqual([]);
    await world.passSeconds(40, healthy("a", "b"));
    expect([readyOf("a")?.status, readyOf("b")?.status]).toEqual(["Unknown", "True"]);
    expect(world.taints("a")).toEqual(["unreachable:NoExecute", "unreachable:NoSchedule"]);
  });

  test("do not come because the server stood still", async () => {
    await world.createNode("a");
    await world.createNode("b");
    await lead();
    await world.passSeconds(20, healthy("a", "b"));
    // All timers are ten minutes late at once.
    const { steadyMs, nowMs } = world.clock;
    world.clock.steadyMs = () => steadyMs.call(world.clock) + 600_000;
    world.clock.nowMs = () => nowMs.call(world.clock) + 600_000;
    await world.passSeconds(30);
    expect([readyOf("a")?.status, readyOf("b")?.status]).toEqual(["True", "True"]);
    await world.passSeconds(40, healthy("b"));
    expect([readyOf("a")?.status, readyOf("b")?.status]).toEqual(["Unknown", "True"]);
  });
});

test("conditions and spec.unschedulable become taints at once, and others are left alone", async () => {
  const taints = [
    { key: "example.com/mine", effect: "NoSchedule" },
    { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" },
  ];
  await world.createNode("a", "True", { spec: { taints } });
  await lead();
  expect(world.taints("a")).toEqual(["mine:NoSchedule"]);
  await world.report("a", "True", [{ type: "DiskPressure", status: "True" }]);
  await world.changeNode("a", (node) => ({ ...node, spec: { ...node.spec, unschedulable: true } }));
  await settle(20);
  expect(world.taints("a")).toEqual(["disk-pressure:NoSchedule", "mine:NoSchedule", "unschedulable:NoSchedule"]);
  await world.report("a", "True");
  await world.changeNode("a", (node) => ({ ...node, spec: { ...node.spec, unschedulable: false } }));
  await settle(20);
  expect(world.taints("a")).toEqual(["mine:NoSchedule"]);
});

test("labels under older names follow those under the newer ones", async () => {
  const labels = { "kubernetes.io/os": "linux", "kubernetes.io/arch": "arm64", "beta.kubernetes.io/arch": "amd64" };
  await world.createNode("a", "True", { metadata: { labels } });
  await lead();
  expect(world.node("a")?.metadata.labels).toEqual({
    ...labels,
    "beta.kubernetes.io/os": "linux",
    "beta.kubernetes.io/arch": "arm64",
  });
});

test("a node that comes and goes is announced, and without nodes no timer runs", async () => {
  await lead();
  const idle = world.clock.timers;
  await world.createNode("a");
  await settle(20);
  expect(world.clock.timers).toBe(idle + 1);
  await world.deleteNode("a");
  await world.passSeconds(10);
  expect(world.clock.timers).toBe(idle);
  expect(world.typedEvents()).toEqual([
    "Normal RegisteredNode Node a event: Registered Node a in Controller",
    "Normal RemovingNode Node a event: Removing Node a from Controller",
  ]);
});

test("a healthy node is not written to", async () => {
  await world.createNode("a");
  await lead();
  await world.passSeconds(5);
  const { revision } = world.store;
  await world.passSeconds(30);
  expect(world.store.revision).toBe(revision);
});
