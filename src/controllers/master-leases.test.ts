import { expect, test } from "bun:test";
import { systemClock } from "../process/clock.ts";
import { MemoryStore } from "../storage/memory-store.ts";
import { MasterLeases } from "./master-leases.ts";
import type { ServerRecord } from "./server-records.ts";

function leasesOf(store: MemoryStore, address: string, known: ServerRecord[]): MasterLeases {
  const servers = {
    all: () => known,
    follow: () => new DisposableStack(),
    async leave() {
      known.length = 0;
    },
  };
  const onError = (error: unknown) => {
    throw error;
  };
  return new MasterLeases({ store, clock: systemClock, servers, address, port: 6443, onError });
}

test("a lease holds the address of its server, and each renewal changes it", async () => {
  const store = new MemoryStore();
  const leases = leasesOf(store, "10.0.0.1", []);
  await leases.renew();
  await leases.renew();
  expect(
    store.scan("/registry/masterleases/").map(({ key, body }) => [key, JSON.parse(`${Buffer.from(body)}`)]),
  ).toEqual([
    [
      "/registry/masterleases/10.0.0.1",
      { metadata: { resourceVersion: "3", generation: 2 }, subsets: [{ addresses: [{ ip: "10.0.0.1" }] }] },
    ],
  ]);
  await store.close();
});

test("servers without a record are known by their leases, and a server that leaves takes its lease along", async () => {
  const store = new MemoryStore();
  const own = { id: "own", address: "10.0.0.1", port: 6443 };
  const leases = leasesOf(store, "10.0.0.1", [own]);
  const other = leasesOf(store, "10.0.0.2", []);
  let changes = 0;
  using _following = leases.follow(() => changes++);
  await leases.renew();
  await other.renew();
  await leases.renew();
  expect(leases.all()).toEqual([own, { id: "10.0.0.2", address: "10.0.0.2", port: 6443 }]);
  expect(changes).toBe(2);
  await leases.leave();
  expect(other.all().map(({ address }) => address)).toEqual(["10.0.0.2"]);
  await store.close();
});
