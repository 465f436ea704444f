import { afterEach, beforeEach, expect, test } from "bun:test";
import { container, PodFixture } from "./testing.ts";

let node: PodFixture;

beforeEach(async () => {
  node = new PodFixture();
  await node.open();
});

afterEach(() => {
  expect(node.errors).toEqual([]);
  node[Symbol.dispose]();
});

test("a pod starts, and its status says so", async () => {
  await node.create("p");
  expect(node.runtime.log).toEqual(["run p", "pull nginx:1", "start web#0"]);
  expect(node.reasons()).toEqual(["Pulling", "Pulled", "Created", "Started"]);
  const { phase, podIP, hostIP, conditions = [], containerStatuses = [], startTime } = node.status("p");
  expect({ phase, podIP, hostIP, startTime }).toMatchObject({ phase: "Running", hostIP: "192.0.2.1" });
  expect(podIP).toMatch(/^10\.1\./);
  expect(conditions.map(({ type, status }) => `${type}=${status}`)).toEqual([
    "PodReadyToStartContainers=True",
    "Initialized=True",
    "Ready=True",
    "ContainersReady=True",
    "PodScheduled=True",
  ]);
  expect(containerStatuses).toMatchObject([
    { name: "web", ready: true, started: true, restartCount: 0, containerID: "fake://container-2" },
  ]);
  // First what the pod waits for, then that it runs.
  expect(node.patches.length).toBeLessThanOrEqual(3);
});

test("a container that exits is restarted, and then later and later", async () => {
  await node.create("p");
  node.runtime.exit("uid-p", "web", 1);
  await node.settle();
  expect(node.status("p").containerStatuses).toMatchObject([
    { restartCount: 1, ready: true, lastState: { terminated: { exitCode: 1, reason: "Error" } } },
  ]);
  node.runtime.exit("uid-p", "web", 1);
  await node.settle();
  expect(node.status("p").containerStatuses).toMatchObject([
    {
      restartCount: 1,
      ready: false,
      state: {
        waiting: {
          reason: "CrashLoopBackOff",
          message: "back-off 10s restarting failed container=web pod=p_n(uid-p)",
        },
      },
      lastState: { terminated: { exitCode: 1 } },
    },
  ]);
  await node.pass(9);
  expect(node.status("p").containerStatuses?.[0]?.restartCount).toBe(1);
  await node.pass(2);
  expect(node.status("p").containerStatuses?.[0]?.restartCount).toBe(2);
  node.runtime.exit("uid-p", "web", 1);
  await node.settle();
  expect(node.status("p").containerStatuses?.[0]?.state?.waiting?.message).toStartWith("back-off 20s ");
  expect(node.reasons().filter((reason) => reason === "BackOff").length).toBe(2);
});

test("a deleted pod is stopped, marked as ended and then removed", async () => {
  await node.create("p");
  node.runtime.scripts.set("web", { stopMs: 5_000 });
  await node.delete("p");
  expect(node.status("p")).toMatchObject({ phase: "Running" });
  expect(node.runtime.log.at(-1)).toBe("stop web#0 30");
  await node.pass(6);
  expect(node.stored.has("p")).toBe(false);
  expect(node.runtime.log.slice(-2)).toEqual(["stop sandbox p", "remove web#0"]);
  expect(await node.runtime.sandboxes()).toEqual([]);
  expect(node.files.prepared.size).toBe(0);
  expect(node.manager.pods()).toEqual([]);
  expect(node.patches.at(-1)).toMatchObject({ status: { phase: "Succeeded" } });
  expect(node.reasons()).toContain("Killing");
});

test("a pod that need not restart ends with its containers", async () => {
  await node.create("p", { restartPolicy: "Never", containers: [container("a"), container("b")] });
  node.runtime.exit("uid-p", "a", 0);
  await node.settle();
  expect(node.status("p").phase).toBe("Running");
  node.runtime.exit("uid-p", "b", 3);
  await node.settle();
  expect(node.status("p")).toMatchObject({
    phase: "Failed",
    containerStatuses: [
      { name: "a", state: { terminated: { exitCode: 0, reason: "Completed" } } },
      { name: "b", state: { terminated: { exitCode: 3, reason: "Error" } } },
    ],
  });
  expect(node.status("p").conditions).toContainEqual(
    expect.objectContaining({ type: "Ready", status: "False", reason: "PodFailed" }),
  );
});

test("an agent that restarts starts nothing again", async () => {
  await node.create("p");
  const log = node.runtime.log.length;
  const patches = node.patches.length;
  await node.open();
  await node.pass(90);
  expect(node.runtime.log.slice(log)).toEqual([]);
  expect(node.patches.slice(patches)).toEqual([]);
});

test("pods are neglected when the runtime has not answered for five minutes, by an error or at all", async () => {
  const { runtime, manager } = node;
  const list = runtime.sandboxes.bind(runtime);
  await node.create("p");
  runtime.sandboxes = async () => {
    throw new Error("the runtime is down");
  };
  runtime.exit("uid-p", "web", 1);
  await node.pass(290);
  runtime.sandboxes = () => new Promise(() => undefined);
  await node.pass(5);
  expect(() => manager.requireSync()).not.toThrow();
  await node.pass(10);
  expect(() => manager.requireSync()).toThrow("sync Loop took longer than expected");
  expect(node.errors.splice(0).length).toBeGreaterThan(0);
  runtime.sandboxes = list;
});

test("pods are not neglected when nothing happens", async () => {
  await node.create("p");
  await node.pass(400);
  node.manager.requireSync();
});

test("pods are looked after again when the runtime answers", async () => {
  const { runtime, manager } = node;
  const list = runtime.sandboxes.bind(runtime);
  await node.create("p");
  runtime.sandboxes = async () => {
    throw new Error("the runtime is down");
  };
  runtime.exit("uid-p", "web", 1);
  await node.pass(310);
  expect(() => manager.requireSync()).toThrow();
  runtime.sandboxes = list;
  await node.pass(70);
  manager.requireSync();
  node.errors.splice(0);
});
