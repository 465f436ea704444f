import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Node, Taint } from "../../api/types/core-v1.ts";
import { settle } from "../../storage/cacher/testing.ts";
import { PodGarbage } from "./pod-garbage.ts";
import { NodeWorld } from "./testing.ts";

let world: NodeWorld;
let leader: DisposableStack;
let counted: string[];

beforeEach(async () => {
  world = await NodeWorld.open();
  leader = new DisposableStack();
  counted = [];
});

afterEach(async () => {
  leader.dispose();
  await world[Symbol.asyncDispose]();
});

async function lead(terminatedMax = 12_500): Promise<void> {
  const observer = {
    deleting: (namespace: string, reason: string) => void counted.push(`${namespace} ${reason}`),
    failed() {},
  };
  leader.use(new PodGarbage({ ...world.parts(leader), terminatedMax, observer }).start());
  await settle(20);
}

test("pods on a node that is gone fail and are deleted after a minute", async () => {
  await world.createNode("a");
  await world.createPod("stays", "a");
  await world.createPod("orphan", "b");
  await lead();
  let last: unknown;
  world.store.subscribe((events) => {
    for (const { type, entry } of events) if (type === "DELETED") last = JSON.parse(Buffer.from(entry.body).toString());
  });
  await world.passSeconds(59);
  expect(world.pods()).toEqual(["orphan", "stays"]);
  await world.passSeconds(1);
  expect(world.pods()).toEqual(["stays"]);
  expect(last).toMatchObject({
    status: {
      phase: "Failed",
      observedGeneration: 1,
      conditions: [
        {
          type: "DisruptionTarget",
          status: "True",
          reason: "DeletionByPodGC",
          message: "PodGC: node no longer exists",
          observedGeneration: 1,
        },
      ],
    },
  });
  expect(counted).toEqual(["default orphaned"]);
});

test("pods stay if their node comes back in time, and its next absence counts anew", async () => {
  await world.createPod("p", "b");
  await lead();
  await world.passSeconds(50);
  await world.createNode("b");
  await world.passSeconds(20);
  await world.deleteNode("b");
  await world.passSeconds(49);
  expect(world.pods()).toEqual(["p"]);
  await world.passSeconds(20);
  expect(world.pods()).toEqual([]);
});

test("a terminating pod that was never bound is deleted", async () => {
  await world.createPod("p", "");
  await world.createPod("later", "");
  await world.changePod("p", (pod) => ({ ...pod, metadata: { ...pod.metadata, finalizers: ["example.com/hold"] } }));
  await world.deletePod("p", 600);
  await lead();
  await world.passSeconds(20);
  expect(world.pod("p")?.status?.phase).toBe("Failed");
  expect(world.pod("p")?.metadata.deletionGracePeriodSeconds).toBe(0);
  const { revision } = world.store;
  await world.passSeconds(60);
  expect(world.store.revision).toBe(revision);
  await world.changePod("p", (pod) => ({ ...pod, metadata: { ...pod.metadata, finalizers: [] } }));
  expect(world.pods()).toEqual(["later"]);
});

test("terminating pods on a node that is out of service are deleted, unless it is ready", async () => {
  const taints = [{ key: "node.kubernetes.io/out-of-service", effect: "NoExecute" } as Taint];
  for (const [name, ready] of [
    ["down", "False"],
    ["up", "True"],
  ] as const) {
    await world.createNode(name, ready);
    await world.changeNode(name, (node: Node) => ({ ...node, spec: { ...node.spec, taints } }));
    await world.createPod(`runs-${name}`, name);
    await world.createPod(`ends-${name}`, name);
    await world.deletePod(`ends-${name}`);
  }
  await lead();
  await world.passSeconds(20);
  expect(world.pods()).toEqual(["ends-up", "runs-down", "runs-up"]);
  expect(counted).toEqual(["default out-of-service"]);
});

test("of the ended pods beyond the threshold, evicted ones go first and then the oldest", async () => {
  await world.createNode("a");
  await world.createPod("running", "a", {}, { phase: "Running" });
  await world.createPod("oldest", "a", {}, { phase: "Succeeded" });
  world.clock.advance(1_000);
  await world.createPod("evicted", "a", {}, { phase: "Failed", reason: "Evicted" });
  await world.createPod("newer", "a", {}, { phase: "Failed" });
  await world.createPod("also-newer", "a", {}, { phase: "Failed" });
  await lead(2);
  await world.passSeconds(20);
  expect(world.pods()).toEqual(["also-newer", "newer", "running"]);
});

test("without pods no timer runs", async () => {
  await lead();
  const idle = world.clock.timers;
  await world.createPod("p", "");
  await settle(20);
  expect(world.clock.timers).toBe(idle + 1);
  await world.deletePod("p", 0);
  await world.passSeconds(40);
  expect(world.clock.timers).toBe(idle);
});
