import { beforeEach, expect, test } from "bun:test";
import { status } from "../../api/status.ts";
import type { Lease } from "../../api/types/coordination-v1.ts";
import { NoAnswerError } from "../../client/transport.ts";
import { ManualClock } from "../../storage/cacher/testing.ts";
import { leaseType, NodeLease } from "./node-lease.ts";
import { FakeApi } from "./testing.ts";

let api: FakeApi;
let clock: ManualClock;
let uid: string | undefined;
let errors: unknown[];
let lease: NodeLease;

beforeEach(() => {
  api = new FakeApi();
  clock = new ManualClock();
  uid = "uid-of-node";
  errors = [];
  lease = newLease();
});

const newLease = (now = () => clock.nowMs(), random = () => 0) =>
  new NodeLease({
    client: api,
    nodeName: "node-1",
    durationSeconds: 40,
    clock: { ...clock, nowMs: now, steadyMs: now, after: clock.after.bind(clock), every: clock.every.bind(clock) },
    random,
    timeoutMs: 10_000,
    nodeUid: async () => uid,
    onError: (error) => void errors.push(error),
  });
const stored = () => api.object<Lease>("leases", "node-1");
const lost = () => new NoAnswerError("nobody answers");

test("is created with the node as its owner, and renewed every 10 seconds", async () => {
  expect(await lease.beat()).toBe(10_000);
  expect(stored()).toMatchObject({
    metadata: {
      namespace: "kube-node-lease",
      ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "node-1", uid: "uid-of-node" }],
    },
    spec: { holderIdentity: "node-1", leaseDurationSeconds: 40, renewTime: "1970-01-01T00:16:40.000000Z" },
  });
  clock.advance(10_000);
  expect(await lease.beat()).toBe(10_000);
  expect(stored()?.spec?.renewTime).toBe("1970-01-01T00:16:50.000000Z");
  expect(api.asked).toEqual(["get leases", "create leases", "update leases"]);
});

test("a renewal says nothing about the managed fields, which the server keeps", async () => {
  await lease.beat();
  const managedFields = [{ manager: "quorate" }];
  await api.update(leaseType, { ...(stored() as Lease), metadata: { ...stored()?.metadata, managedFields } });
  const restarted = newLease();
  await restarted.beat();
  expect(stored()?.metadata).not.toHaveProperty("managedFields");
});

test("renewals that begin together are spread over the interval, and have 4 % of jitter then", async () => {
  const spread = newLease(undefined, () => 0.75);
  expect(await spread.beat()).toBe(0.25 * 10_300);
  clock.advance(0.25 * 10_300);
  expect(await spread.beat()).toBe(10_300);
});

test("a late renewal does not delay the next one", async () => {
  await lease.beat();
  clock.advance(13_000);
  expect(await lease.beat()).toBe(7_000);
  clock.advance(7_000);
  expect(await lease.beat()).toBe(10_000);
  clock.advance(10_000 + 25_000);
  expect(await lease.beat()).toBe(5_000);
});

test("is not created before the node exists", async () => {
  uid = undefined;
  expect(await lease.beat()).toBe(10_000);
  expect(stored()).toBeUndefined();
  uid = "uid-of-node";
  await lease.beat();
  expect(stored()).toBeDefined();
});

test("gets its owner when it exists without one", async () => {
  await api.create(leaseType, {
    kind: "Lease",
    apiVersion: "coordination.k8s.io/v1",
    metadata: { name: "node-1", namespace: "kube-node-lease" },
  });
  await lease.beat();
  expect(stored()?.metadata.ownerReferences).toHaveLength(1);
});

test("is tried five times at once, and then again after 200 ms up to 7 s", async () => {
  await lease.beat();
  api.failures.push(...Array.from({ length: 12 }, lost));
  const waits: number[] = [];
  while (api.failures.length > 0) waits.push(await lease.beat());
  expect(waits).toEqual([200, 400, 800, 1_600, 3_200, 6_400, 7_000, 7_000]);
  expect(errors).toHaveLength(8);
  expect(await lease.beat()).toBe(10_000);
  api.failures.push(...Array.from({ length: 5 }, lost));
  expect(await lease.beat()).toBe(200);
});

test("is read again after a conflict", async () => {
  await lease.beat();
  const other = stored() as Lease;
  await api.update(leaseType, { ...other, metadata: { ...other.metadata, labels: { by: "another" } } });
  clock.advance(10_000);
  expect(await lease.beat()).toBe(10_000);
  expect(stored()).toMatchObject({
    metadata: { labels: { by: "another" } },
    spec: { renewTime: "1970-01-01T00:16:50.000000Z" },
  });
  expect(errors).toEqual([]);
});

test("is created again when it was deleted", async () => {
  await lease.beat();
  api.remove("leases", "node-1");
  api.failures.push(status.notFound({ group: "coordination.k8s.io", resource: "leases", name: "node-1" }));
  expect(await lease.beat()).toBe(200);
  expect(await lease.beat()).toBe(10_000);
  expect(stored()).toBeDefined();
});

test("is renewed to a later time even if the clock was moved back", async () => {
  await lease.beat();
  const behind = newLease(() => clock.nowMs() - 500_000);
  await behind.beat();
  expect(stored()?.spec?.renewTime).toBe("1970-01-01T00:16:40.001000Z");
  await behind.beat();
  expect(stored()?.spec?.renewTime).toBe("1970-01-01T00:16:40.002000Z");
});
