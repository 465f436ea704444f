import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Node, Taint } from "../../api/types/core-v1.ts";
import { settle } from "../../storage/cacher/testing.ts";
import { TaintEviction } from "./taint-eviction.ts";
import { NodeWorld } from "./testing.ts";

let world: NodeWorld;
let leader: DisposableStack;
let delays: number[];

beforeEach(async () => {
  world = await NodeWorld.open();
  delays = [];
  await world.createNode("a");
  lead();
});

afterEach(async () => {
  leader.dispose();
  await world[Symbol.asyncDispose]();
});

function lead(): void {
  leader = new DisposableStack();
  leader.use(new TaintEviction({ ...world.parts(leader), evicted: (seconds) => void delays.push(seconds) }).start());
}

const unreachable = "node.kubernetes.io/unreachable";
const tolerating = (tolerationSeconds?: number) => ({
  terminationGracePeriodSeconds: 30,
  tolerations: [
    {
      key: unreachable,
      operator: "Exists",
      effect: "NoExecute",
      ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }),
    },
  ],
});

async function taint(...keys: string[]): Promise<void> {
  const taints = keys.map((key) => ({ key, effect: "NoExecute" }) as Taint);
  await world.changeNode("a", (node: Node) => ({ ...node, spec: { ...node.spec, taints } }));
  await settle(20);
}

const isTerminating = (name: string) => world.pod(name)?.metadata.deletionTimestamp !== undefined;

test("a pod that does not tolerate a taint is deleted at once, with the reason in its status", async () => {
  await world.createPod("p", "a");
  await world.createPod("tolerates", "a", tolerating());
  await world.createPod("elsewhere", "b");
  await taint(unreachable);
  expect(world.pod("p")?.status?.conditions).toMatchObject([
    {
      type: "DisruptionTarget",
      status: "True",
      reason: "DeletionByTaintManager",
      message: "Taint manager: deleting due to NoExecute taint",
      observedGeneration: 1,
    },
  ]);
  expect(["p", "tolerates", "elsewhere"].map(isTerminating)).toEqual([true, false, false]);
  expect(world.typedEvents()).toEqual(["Normal TaintManagerEviction Marking for deletion Pod default/p"]);
  expect(delays).toEqual([0]);
});

test("a pod that is being deleted already is left alone", async () => {
  await world.createPod("p", "a");
  await world.deletePod("p");
  const { revision } = world.store;
  await taint(unreachable);
  expect(world.store.revision - revision).toBe(1);
});

test("a pod that tolerates a taint for a while is deleted after it", async () => {
  await world.createPod("p", "a", tolerating(300));
  await taint(unreachable);
  await world.passSeconds(299);
  expect(isTerminating("p")).toBe(false);
  await world.passSeconds(1);
  expect(isTerminating("p")).toBe(true);
});

test("a pod stays if the taint goes in time", async () => {
  await world.createPod("p", "a", tolerating(300));
  await taint(unreachable);
  await world.passSeconds(200);
  await taint();
  await world.passSeconds(300);
  expect(isTerminating("p")).toBe(false);
  expect(world.typedEvents()).toEqual(["Normal TaintManagerEviction Cancelling deletion of Pod default/p"]);
});

test("a time that runs goes on when the taints change and are still tolerated", async () => {
  const { tolerations } = tolerating(100);
  const other = { key: "example.com/other", operator: "Exists", effect: "NoExecute", tolerationSeconds: 20 };
  await world.createPod("p", "a", { tolerations: [...tolerations, other] });
  await taint(unreachable);
  await world.passSeconds(50);
  await taint(unreachable, "example.com/other");
  await world.passSeconds(49);
  expect(isTerminating("p")).toBe(false);
  await world.passSeconds(1);
  expect(isTerminating("p")).toBe(true);
});

test("a taint that is not tolerated ends a time that runs", async () => {
  await world.createPod("p", "a", tolerating(300));
  await taint(unreachable);
  await taint(unreachable, "example.com/other");
  expect(isTerminating("p")).toBe(true);
  expect(world.typedEvents()).toEqual([
    "Normal TaintManagerEviction Cancelling deletion of Pod default/p",
    "Normal TaintManagerEviction Marking for deletion Pod default/p",
  ]);
});

test("a pod that is bound to a tainted node is evicted, one that is gone is forgotten", async () => {
  await taint(unreachable);
  await world.createPod("late", "");
  await world.bindPod("late", "a");
  await world.createPod("gone", "a", tolerating(10));
  await settle(20);
  expect(isTerminating("late")).toBe(true);
  const timers = world.clock.timers;
  await world.deletePod("gone", 0);
  await settle(20);
  expect(world.clock.timers).toBe(timers - 1);
});

test("a new leader starts the time anew, and evicts nobody twice", async () => {
  await world.createPod("waits", "a", tolerating(100));
  await world.createPod("goes", "a");
  await taint(unreachable);
  await world.passSeconds(60);
  leader.dispose();
  lead();
  await settle(20);
  await world.passSeconds(99);
  expect(isTerminating("waits")).toBe(false);
  await world.passSeconds(1);
  expect(isTerminating("waits")).toBe(true);
  expect(delays).toHaveLength(2);
});

test("a timer never runs for longer than it can", async () => {
  const delaysMs: number[] = [];
  const { clock } = world;
  const after = clock.after.bind(clock);
  clock.after = (delayMs, run) => {
    delaysMs.push(delayMs);
    return after(delayMs, run);
  };
  await world.createPod("p", "a", tolerating(10 ** 10));
  await taint(unreachable);
  expect(delaysMs).toContain(2 ** 31 - 1);
  expect(Math.max(...delaysMs)).toBeLessThan(2 ** 31);
});
