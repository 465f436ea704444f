import { expect, test } from "bun:test";
import { settle } from "../../storage/cacher/testing.ts";
import { startNodeTtl, TtlStep } from "./node-ttl.ts";
import { NodeWorld } from "./testing.ts";

test("the time follows the size of the cluster, with room for change", () => {
  const step = new TtlStep();
  const at = (size: number) => {
    step.resize(size);
    return step.seconds;
  };
  expect([0, 100, 101, 90, 89, 501, 450, 449, 1_001, 2_001, 1_800, 1_799].map(at)).toEqual([
    0, 0, 15, 15, 0, 30, 30, 15, 60, 300, 300, 60,
  ]);
  expect(at(5_000)).toBe(300);
  expect(at(1)).toBe(0);
});

test("nodes are annotated when they come, when they change and when the size does", async () => {
  await using world = await NodeWorld.open();
  using leader = new DisposableStack();
  const ttl = (name: string) => world.node(name)?.metadata.annotations?.["node.alpha.kubernetes.io/ttl"];
  await world.createNode("before");
  leader.use(startNodeTtl(world.parts(leader)));
  await settle(20);
  expect(ttl("before")).toBe("0");
  for (let at = 0; at < 100; at++) await world.createNode(`node-${at}`);
  await settle(40);
  expect(ttl("node-99")).toBe("15");
  const { revision } = world.store;
  await world.report("node-99", "False");
  await settle(20);
  expect(world.store.revision - revision).toBe(1);
  await world.report("before", "False");
  await settle(20);
  expect(ttl("before")).toBe("15");
});
