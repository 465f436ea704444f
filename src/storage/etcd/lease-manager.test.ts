import { expect, test } from "bun:test";
import type { Clock } from "../../process/clock.ts";
import { systemClock } from "../../process/clock.ts";
import type { EtcdClient } from "./client/etcd-client.ts";
import { EtcdError } from "./client/etcd-error.ts";
import { LeaseManager } from "./lease-manager.ts";

const reuseMs = 60_000;

/** @param answer answers a grant */
function setUp(answer: () => Promise<void> = async () => undefined) {
  let nowMs = 0;
  const granted: { readonly ttl: number; readonly id: number }[] = [];
  const full: number[] = [];
  const client = {
    repeat: async (_method: unknown, request: { readonly ttl: number; readonly id: number }) => {
      granted.push(request);
      await answer();
    },
  } as unknown as EtcdClient;
  const clock: Clock = { ...systemClock, steadyMs: () => nowMs };
  const leases = new LeaseManager({ client, clock, reuseMs, onFull: (objects) => full.push(objects) });
  return {
    leases,
    leaseFor: (ttlSeconds: number, timeoutMs = 10_000) => leases.leaseFor(ttlSeconds, timeoutMs),
    granted,
    full,
    pass(seconds: number) {
      nowMs += seconds * 1_000;
    },
  };
}

test("objects share a lease for a twentieth of their time, at most for the reuse duration", async () => {
  const { leaseFor, granted, pass } = setUp();
  const first = await leaseFor(600);
  pass(29);
  expect(await leaseFor(600)).toBe(first);
  pass(2);
  expect(await leaseFor(600)).not.toBe(first);
  await leaseFor(36_000);
  expect(granted.map(({ ttl }) => ttl)).toEqual([630, 630, 36_060]);
});

test("a lease gets at most 1,000 objects, and one that etcd does not know is forgotten", async () => {
  const { leases, leaseFor, granted, full } = setUp();
  for (let turn = 0; turn < 1_001; turn++) await leaseFor(600);
  expect([granted.length, full]).toEqual([2, [1_000]]);
  leases.forget(600);
  await leaseFor(600);
  expect(granted).toHaveLength(3);
});

test("leases that are asked for together are one lease", async () => {
  const { leaseFor, granted } = setUp();
  const ids = await Promise.all([leaseFor(600), leaseFor(600), leaseFor(600)]);
  expect([new Set(ids).size, granted.length]).toEqual([1, 1]);
});

test("callers share a grant that fails, and none has sent its write", async () => {
  const { leaseFor, granted } = setUp(async () => {
    throw new EtcdError("interrupted", "no answer");
  });
  const failures = await Promise.allSettled([leaseFor(600), leaseFor(600), leaseFor(600)]);
  for (const failure of failures) expect(failure).toMatchObject({ status: "rejected", reason: { kind: "notSent" } });
  expect(granted).toHaveLength(1);
  await leaseFor(600).catch(() => undefined);
  expect(granted).toHaveLength(2);
});

test("a caller waits no longer than its own time", async () => {
  const grant = Promise.withResolvers<void>();
  const { leaseFor, granted } = setUp(() => grant.promise);
  const patient = leaseFor(600);
  await expect(leaseFor(600, 1)).rejects.toMatchObject({ kind: "notSent" });
  grant.resolve();
  expect(await patient).toBe(granted[0]?.id as number);
});

test("each lease gets at most 1,000 of the objects that wait for a grant together", async () => {
  const { leaseFor, granted } = setUp();
  const ids = await Promise.all(Array.from({ length: 1_001 }, () => leaseFor(600)));
  expect([new Set(ids).size, granted.length]).toEqual([2, 2]);
});

test("a time too short to be shared has a lease for each object", async () => {
  const { leaseFor, granted } = setUp();
  await leaseFor(15);
  await leaseFor(15);
  expect(granted.map(({ ttl }) => ttl)).toEqual([15, 15]);
});
