import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Node } from "../../api/types/core-v1.ts";
import { NoAnswerError } from "../../client/transport.ts";
import type { Occurrence } from "../../controllers/events/event-correlator.ts";
import { ManualClock, settle } from "../../storage/cacher/testing.ts";
import { AgentNode } from "./agent-node.ts";
import type { Pressure } from "./eviction-thresholds.ts";
import { FakeApi, FakeMachine, nodeSettings } from "./testing.ts";

let api: FakeApi;
let clock: ManualClock;
let machine: FakeMachine;
let problems: string[];
let pressures: Set<Pressure>;
let events: Occurrence[];
let errors: unknown[];
let node: AgentNode;

beforeEach(() => {
  api = new FakeApi();
  clock = new ManualClock();
  machine = new FakeMachine();
  [problems, events, errors] = [[], [], []];
  pressures = new Set();
});

afterEach(() => node[Symbol.dispose]());

async function start(change: Partial<typeof nodeSettings> = {}): Promise<void> {
  node = new AgentNode({
    client: api,
    settings: { ...nodeSettings, ...change },
    machine,
    runtime: { version: "simulated://1", problems: async () => problems, images: async () => [] },
    pressures: () => pressures,
    clock,
    random: () => 0.5,
    cached: () => api.object<Node>("nodes", "node-1"),
    record: (event) => void events.push(event),
    onError: (error) => void errors.push(error),
  });
  await pass(0);
}

async function pass(ms: number): Promise<void> {
  clock.advance(ms);
  await settle(20);
}

/** Lets time pass in steps, because a task is scheduled again only when it has ended. */
async function live(ms: number, stepMs = 100): Promise<void> {
  for (let passed = 0; passed < ms; passed += stepMs) await pass(stepMs);
}

const stored = () => api.object<Node>("nodes", "node-1");
const condition = (type: string) => stored()?.status?.conditions?.find((one) => one.type === type);
const patches = () => api.patches.length;

test("registers, reports once, and then only every five minutes while nothing changes", async () => {
  await start({ labels: { team: "x" }, taints: [{ key: "a", effect: "NoSchedule" }] });
  await node.registered;
  expect(stored()).toMatchObject({
    metadata: {
      labels: { "kubernetes.io/hostname": "node-1", team: "x" },
      annotations: { "volumes.kubernetes.io/controller-managed-attach-detach": "true" },
    },
    spec: { taints: [{ key: "a", effect: "NoSchedule" }] },
    status: { capacity: { cpu: "4", pods: "110" } },
  });
  expect(patches()).toBe(1);
  await live(299_000, 1_000);
  expect(patches()).toBe(1);
  await live(12_000, 1_000);
  expect(patches()).toBe(2);
  expect(condition("Ready")?.lastHeartbeatTime).not.toBe(condition("Ready")?.lastTransitionTime);
});

test("reports a change within ten seconds, with an Event", async () => {
  await start();
  pressures.add("MemoryPressure");
  await live(11_000, 1_000);
  expect(condition("MemoryPressure")?.status).toBe("True");
  expect(events.map(({ reason }) => reason)).toEqual([
    "Starting",
    "NodeHasSufficientMemory",
    "NodeHasNoDiskPressure",
    "NodeHasSufficientPID",
    "NodeHasInsufficientMemory",
  ]);
  expect(events.at(-1)).toEqual({
    about: { kind: "Node", name: "node-1", uid: "node-1" },
    type: "Normal",
    reason: "NodeHasInsufficientMemory",
    message: "Node node-1 status is now: NodeHasInsufficientMemory",
    host: "node-1",
  });
});

test("reports readiness within 100 ms after the start", async () => {
  problems = ["container runtime status check may not have completed yet"];
  await start();
  expect(condition("Ready")).toMatchObject({ status: "False", message: problems[0] });
  problems = [];
  await live(200);
  expect(condition("Ready")?.status).toBe("True");
  expect(events.at(-1)?.reason).toBe("NodeReady");
});

test("corrects a status that the control plane declared Unknown", async () => {
  await start();
  const document = { status: { conditions: [{ type: "Ready", status: "Unknown", reason: "NodeStatusUnknown" }] } };
  await api.patch({ group: "", version: "v1", resource: "nodes" }, { name: "node-1" }, { kind: "strategic", document });
  await live(11_000, 1_000);
  expect(condition("Ready")).toMatchObject({ status: "True", reason: "KubeletReady" });
});

test("tries to register until it succeeds, with longer and longer pauses", async () => {
  api.failures.push(...Array.from({ length: 4 }, () => new NoAnswerError("nobody answers")));
  await start();
  await pass(199);
  expect(api.asked).toEqual(["create nodes"]);
  await pass(1);
  expect(api.asked).toHaveLength(2);
  await live(4_000);
  expect(stored()).toBeDefined();
  expect(errors).toHaveLength(4);
});

test("takes over a Node that exists, with its taints", async () => {
  await start({ taints: [{ key: "old", effect: "NoSchedule" }] });
  node[Symbol.dispose]();
  await start({ labels: { "topology.kubernetes.io/zone": "z" }, taints: [] });
  expect(stored()).toMatchObject({
    metadata: { labels: { "topology.kubernetes.io/zone": "z" } },
    spec: { taints: [{ key: "old" }] },
  });
});

test("tries a report five times with the newest Node", async () => {
  await start();
  machine.measured = { ...machine.measured, osImage: "Newer OS" };
  api.failures.push(new NoAnswerError("nobody answers"), new NoAnswerError("nobody answers"));
  await live(11_000, 1_000);
  expect(stored()?.status?.nodeInfo?.osImage).toBe("Newer OS");
});

test("waits for a Node that someone else creates", async () => {
  await start({ registers: false });
  expect(api.asked).not.toContain("create nodes");
  const metadata = { name: "node-1" };
  await api.create({ group: "", version: "v1", resource: "nodes" }, { kind: "Node", apiVersion: "v1", metadata });
  await live(1_000);
  await node.registered;
  expect(condition("Ready")?.status).toBe("True");
});

test("tells about a start of the machine, and about cordons", async () => {
  await start();
  machine.measured = { ...machine.measured, bootId: "another" };
  const document = { spec: { unschedulable: true } };
  await api.patch({ group: "", version: "v1", resource: "nodes" }, { name: "node-1" }, { kind: "strategic", document });
  await live(11_000, 1_000);
  expect(events.slice(-2)).toMatchObject([
    { reason: "NodeNotSchedulable", message: "Node node-1 status is now: NodeNotSchedulable" },
    { type: "Warning", reason: "Rebooted", message: "Node node-1 has been rebooted, boot id: another" },
  ]);
});

test("thousands of nodes cost two timers each, and none after their end", async () => {
  await start();
  expect(clock.timers).toBe(2);
  node[Symbol.dispose]();
  expect(clock.timers).toBe(0);
});
