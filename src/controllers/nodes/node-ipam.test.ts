import { afterEach, beforeEach, expect, test } from "bun:test";
import { type Cidr, parseCidr } from "../../api/validation/ip.ts";
import { settle } from "../../storage/cacher/testing.ts";
import { StoreUnavailableError } from "../../storage/store.ts";
import { NodeIpam } from "./node-ipam.ts";
import { NodeWorld } from "./testing.ts";

let world: NodeWorld;
let leader: DisposableStack;

beforeEach(async () => {
  world = await NodeWorld.open();
  leader = new DisposableStack();
});

afterEach(async () => {
  leader.dispose();
  await world[Symbol.asyncDispose]();
});

const cidr = (text: string) => parseCidr(text) as Cidr;

async function lead(range = "10.244.0.0/22"): Promise<void> {
  leader.dispose();
  leader = new DisposableStack();
  const ranges = [
    { cidr: cidr(range), nodePrefixBits: 24 },
    { cidr: cidr("fd00::/56"), nodePrefixBits: 64 },
  ];
  const serviceRanges = [cidr("10.244.1.0/24")];
  leader.use(new NodeIpam({ ...world.parts(leader), ranges, serviceRanges }).start());
  await settle(20);
}

const rangesOf = (name: string) => world.node(name)?.spec?.podCIDRs;

test("each node gets a part of both ranges, and none of the range of Services", async () => {
  await world.createNode("before");
  await lead();
  await world.createNode("after");
  await settle(20);
  expect(rangesOf("before")).toEqual(["10.244.0.0/24", "fd00::/64"]);
  expect(rangesOf("after")).toEqual(["10.244.2.0/24", "fd00:0:0:1::/64"]);
  expect(world.node("after")?.spec?.podCIDR).toBe("10.244.2.0/24");
});

test("a new leader knows what nodes have", async () => {
  await world.createNode("z", "True", { spec: { podCIDR: "10.244.0.0/24", podCIDRs: ["10.244.0.0/24", "fd00::/64"] } });
  await world.createNode("a");
  await lead();
  expect(rangesOf("a")).toEqual(["10.244.2.0/24", "fd00:0:0:1::/64"]);
  await lead();
  await world.createNode("b");
  await settle(20);
  expect(rangesOf("b")).toEqual(["10.244.3.0/24", "fd00:0:0:2::/64"]);
});

test("a node for which nothing is left gets what another node leaves", async () => {
  await lead();
  for (const name of ["a", "b", "c", "d"]) await world.createNode(name);
  await settle(20);
  expect(rangesOf("d")).toBeUndefined();
  expect(world.typedEvents()).toContain("Normal CIDRNotAvailable Node d status is now: CIDRNotAvailable");
  await world.deleteNode("b");
  await world.passSeconds(120);
  expect(rangesOf("d")?.[0]).toBe("10.244.2.0/24");
});

test("the part of a node stays its own when another node that claimed it goes", async () => {
  await lead();
  await world.createNode("a");
  await settle(20);
  for (const podCIDR of ["10.244.0.0/24", "10.244.1.0/24"]) {
    await world.createNode("twin", "True", { spec: { podCIDR, podCIDRs: [podCIDR] } });
    await settle(20);
    await world.deleteNode("twin");
    await settle(20);
  }
  for (const name of ["b", "c", "d"]) await world.createNode(name);
  await settle(20);
  expect(["a", "b", "c", "d"].map((name) => rangesOf(name)?.[0])).toEqual([
    "10.244.0.0/24",
    "10.244.2.0/24",
    "10.244.3.0/24",
    undefined,
  ]);
});

test.each(["done", "not done"])("a node whose write had no known result keeps its part: %s", async (outcome) => {
  await lead();
  const commit = world.store.commit.bind(world.store);
  const { keyPrefix } = world.registry("nodes").info;
  let failures = 3;
  world.store.commit = async (command) => {
    const isAssignment = command.key.startsWith(keyPrefix) && world.node("a") !== undefined;
    if (!isAssignment || failures === 0) return commit(command);
    failures--;
    if (outcome === "done") await commit(command);
    throw new StoreUnavailableError("whether the write was done is not known");
  };
  await world.createNode("a");
  await world.passSeconds(5);
  expect(rangesOf("a")?.[0]).toBe("10.244.0.0/24");
  expect(world.errors.splice(0).length).toBeGreaterThan(0);
  failures = 0;
  for (const name of ["b", "c"]) await world.createNode(name);
  await settle(20);
  expect([rangesOf("b")?.[0], rangesOf("c")?.[0]]).toEqual(["10.244.2.0/24", "10.244.3.0/24"]);
  await world.deleteNode("a");
  await world.createNode("d");
  await settle(20);
  expect(rangesOf("d")?.[0]).toBe("10.244.0.0/24");
});

test("an assignment that an earlier leader has under way does not give a part to two nodes", async () => {
  await lead();
  const commit = world.store.commit.bind(world.store);
  const { keyPrefix } = world.registry("nodes").info;
  const gate = Promise.withResolvers<void>();
  world.store.commit = async (command) => {
    if (command.key === `${keyPrefix}late` && world.node("late") !== undefined) await gate.promise;
    return commit(command);
  };
  await world.createNode("late");
  await settle(20);
  await world.createNode("early");
  await lead();
  expect(rangesOf("early")?.[0]).toBe("10.244.0.0/24");
  gate.resolve();
  await settle(20);
  expect(rangesOf("late")?.[0]).toBe("10.244.2.0/24");
});
