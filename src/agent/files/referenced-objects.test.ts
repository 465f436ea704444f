import { expect, test } from "bun:test";
import { until } from "../../../test/until.ts";
import type { ConfigMap } from "../../api/types/core-v1.ts";
import type { ResourceType } from "../../client/client.ts";
import { ManualClock } from "../../storage/cacher/testing.ts";
import { ReferencedObjects } from "./referenced-objects.ts";
import { FakeServer } from "./testing.ts";

const type: ResourceType<ConfigMap> = { group: "", version: "v1", resource: "configmaps" };
const minuteMs = 60_000;

function open(server: FakeServer, clock: ManualClock): ReferencedObjects<ConfigMap> {
  return new ReferencedObjects({
    client: server,
    type,
    singular: "configmap",
    clock,
    random: () => 0,
    onError: () => {},
  });
}

function configMap(name: string, data: Record<string, string>) {
  return { metadata: { namespace: "shop", name }, data };
}

test("an object that is not used for five minutes is no longer watched", async () => {
  const [server, clock] = [new FakeServer(), new ManualClock()];
  server.set("configmaps", configMap("a", { key: "1" }));
  server.set("configmaps", configMap("b", { key: "1" }));
  using objects = open(server, clock);
  await objects.get("shop", "a");
  await objects.get("shop", "b");
  await until(() => server.watches === 2);
  for (let minute = 0; minute < 4; minute++) {
    clock.advance(minuteMs);
    await objects.get("shop", "b");
  }
  expect(server.watches).toBe(2);
  clock.advance(minuteMs);
  await until(() => server.watches === 1);
  expect((await objects.get("shop", "a"))?.data).toEqual({ key: "1" });
  expect(server.asked.filter((asked) => asked.endsWith("=a"))).toHaveLength(2);
});

test("changes, deletions and creations are seen", async () => {
  const [server, clock] = [new FakeServer(), new ManualClock()];
  using objects = open(server, clock);
  expect(await objects.get("shop", "a")).toBeUndefined();
  await until(() => server.watches === 1);
  server.set("configmaps", configMap("a", { key: "1" }));
  await until(async () => (await objects.get("shop", "a"))?.data?.["key"] === "1");
  server.set("configmaps", configMap("a", { key: "2" }));
  await until(async () => (await objects.get("shop", "a"))?.data?.["key"] === "2");
  server.delete("configmaps", "shop", "a");
  await until(async () => (await objects.get("shop", "a")) === undefined);
});

test("all watches end with the agent", async () => {
  const [server, clock] = [new FakeServer(), new ManualClock()];
  const objects = open(server, clock);
  await objects.get("shop", "a");
  await until(() => server.watches === 1);
  objects[Symbol.dispose]();
  await until(() => server.watches === 0);
});
