import { afterAll, afterEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toMemberId } from "../../../raft/index.ts";
import { ClusterInProcess, eventually } from "../../../test/contract/cluster-in-process.ts";
import { bodyText, del, put } from "../../../test/contract/store-commands.ts";
import { storeContract } from "../../../test/contract/store-contract.ts";
import { type Revision, toRevision } from "../../api/revision.ts";
import { systemClock } from "../../process/clock.ts";
import { CacherSet } from "../cacher/cacher-set.ts";
import { lineEncoder, MemorySink } from "../cacher/testing.ts";
import { ClusterError, type MemberRecord } from "../cluster.ts";
import type { StoreEvent } from "../store.ts";
import type { OpenReplica } from "./open-replica.ts";

const root = mkdtempSync(join(tmpdir(), "replicas-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let clusters = 0;
const newRoot = (): string => join(root, `${++clusters}`);
const start = (size: number) => ClusterInProcess.start(newRoot(), size);

const a = "/registry/pods/default/a";
const all = { prefix: "/registry/", limit: 10_000 };

function hashes(cluster: ClusterInProcess): string[] {
  return cluster.replicas.map((replica) => {
    const { appliedIndex, stateHash, revision } = replica.cluster.status();
    return `${appliedIndex} ${revision} ${stateHash}`;
  });
}

async function agree(cluster: ClusterInProcess): Promise<void> {
  await eventually(() => (new Set(hashes(cluster)).size === 1 ? true : undefined));
}

for (const role of ["leader", "follower"] as const) {
  const open: ClusterInProcess[] = [];
  afterEach(() => Promise.all(open.splice(0).map((cluster) => cluster[Symbol.asyncDispose]())));
  storeContract(`ReplicatedStore of three, at a ${role}`, async () => {
    const cluster = await start(3);
    open.push(cluster);
    const leader = await cluster.leader();
    return (role === "leader" ? leader : cluster.follower()).store;
  });
}

test("a write through any replica is seen by a consistent read of every other", async () => {
  await using cluster = await start(3);
  for (let turn = 0; turn < 20; turn++) {
    const writer = cluster.replicas[turn % 3] as OpenReplica;
    const answer = await writer.store.commit(put(a, `${turn}`));
    for (const { store } of cluster.replicas) {
      expect(await store.readBarrier()).toBeGreaterThanOrEqual(answer.kind === "applied" ? answer.revision : Infinity);
      expect(bodyText(store.get(a))).toContain(`"data":"${turn}"`);
    }
  }
});

test("all replicas have the same state and the same history", async () => {
  await using cluster = await start(3);
  const writes = Array.from({ length: 300 }, (_, at) => {
    const { store } = cluster.replicas[at % 3] as OpenReplica;
    const key = `/registry/pods/default/${at % 17}`;
    return store.commit(at % 5 === 4 ? del(key, `${at}`) : put(key, `${at}`));
  });
  await Promise.all(writes);
  await agree(cluster);
  const [first, ...others] = await Promise.all(
    cluster.replicas.map(async ({ store }) => ({
      entries: store.scan("/registry/"),
      events: await store.eventsAfter(toRevision(1), all),
      past: await store.scanAt(toRevision(100), all),
    })),
  );
  for (const other of others) expect(other).toEqual(first as NonNullable<typeof first>);
});

test("exactly one of many writes through all replicas that expect the same revision is applied", async () => {
  await using cluster = await start(3);
  const made = await cluster.follower().store.commit(put(a, "start"));
  const at = (made.kind === "applied" ? made.revision : 0) as Revision;
  await Promise.all(cluster.replicas.map(({ store }) => store.waitFor(at, 5_000)));
  const expected = { kind: "revision", revision: at } as const;
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, turn) =>
      (cluster.replicas[turn % 3] as OpenReplica).store.commit(put(a, `${turn}`, { expect: expected })),
    ),
  );
  expect(answers.filter(({ kind }) => kind === "applied")).toHaveLength(1);
});

test("writes that are under way when the leader is cut off are applied once and answered", async () => {
  await using cluster = await start(3);
  const leader = await cluster.leader();
  const { store } = cluster.follower();
  const events: StoreEvent[] = [];
  store.subscribe((batch) => void events.push(...batch));
  const writes: Promise<unknown>[] = [];
  for (let at = 0; at < 200; at++) {
    writes.push(store.commit(put(`/registry/pods/default/${at}`, "x", { expect: { kind: "absent" } })));
    if (at % 10 === 0) await Bun.sleep(1);
    if (at === 100) cluster.network.isolate(toMemberId(leader.cluster.self));
  }
  // A second application would be rejected because the key exists then.
  expect(await Promise.all(writes)).toEqual(writes.map(() => expect.objectContaining({ kind: "applied" })));
  expect(new Set(events.map(({ entry }) => entry.key)).size).toBe(events.length);
});

test("a replica without a quorum confirms no read and promises no write, and takes part again when it can", async () => {
  await using cluster = await start(3);
  const alone = await cluster.leader();
  cluster.network.isolate(toMemberId(alone.cluster.self));
  await expect(alone.store.readBarrier() as Promise<Revision>).rejects.toMatchObject({ outcome: "notDone" });
  expect(await alone.cluster.confirmLeader()).toBe(false);
  const write = alone.store.commit(put(a, "late"));
  cluster.network.heal();
  expect(await write).toMatchObject({ kind: "applied" });
  await agree(cluster);
}, 60_000);

test("a replica that was away while another joined and took the lead follows the new leader", async () => {
  await using cluster = await start(3);
  await cluster.leader();
  const away = cluster.follower().cluster.self;
  await cluster.close(away);
  const joined = await cluster.join({ promote: true });
  const { self } = joined.cluster;
  await eventually(async () => {
    const { cluster: leading } = await cluster.leader();
    if (leading.self === self) return true;
    await leading.transferLeadership(self).catch(() => undefined);
    return undefined;
  });
  const back = await cluster.open(away);
  await joined.store.commit(put(a, "news"));
  await back.store.readBarrier();
  expect(bodyText(back.store.get(a))).toContain('"data":"news"');
  expect(back.cluster.status().leader).toBe(self);
}, 60_000);

test("a replica that was away catches up by a snapshot, ends its watches, and has the whole history", async () => {
  await using cluster = await ClusterInProcess.start(newRoot(), 3, { log: { logBytesMax: 100_000, tailEntries: 10 } });
  await cluster.leader();
  const away = cluster.follower();
  const id = away.cluster.self;
  await cluster.close(id);
  const { store } = await cluster.leader();
  const large = "x".repeat(2_000);
  for (let at = 0; at < 700; at++) await store.commit(put(`/registry/pods/default/${at % 7}`, `${at}${large}`));
  const back = await cluster.open(id);
  const cachers = new CacherSet({ store: back.store, clock: systemClock });
  const cacher = cachers.cacher("/registry/pods/");
  const sink = new MemorySink();
  const watch = cacher
    .watch({
      prefix: "/registry/pods/",
      start: { kind: "initial", endBookmark: false },
      bookmarks: false,
      deadlineMs: Date.now() + 60_000,
      encoder: lineEncoder(),
    })
    .run(sink);
  await watch;
  await back.store.readBarrier();
  await agree(cluster);
  const from = toRevision(300);
  const events = (replica: OpenReplica) => replica.store.eventsAfter(from, { prefix: "/registry/", limit: 1_000 });
  expect((await events(back)).map(({ revision }) => revision)).toEqual(
    (await events(await cluster.leader())).map(({ revision }) => revision),
  );
  const list = await cacher.list({ prefix: "/registry/pods/" });
  expect(list.entries.map(({ revision }) => revision)).toEqual(
    store.scan("/registry/pods/").map(({ revision }) => revision),
  );
  cachers.close();
}, 60_000);

test("after a restart of all replicas all data is there", async () => {
  await using cluster = await start(3);
  for (let at = 0; at < 20; at++) await cluster.follower().store.commit(put(`/registry/pods/default/${at}`, `${at}`));
  await (await cluster.leader()).store.compact(toRevision(10));
  await agree(cluster);
  const before = hashes(cluster)[0]?.split(" ").slice(1);
  for (const id of [1, 2, 3]) await cluster.close(id);
  await Promise.all([1, 2, 3].map((id) => cluster.open(id)));
  for (const { store } of cluster.replicas) {
    await store.readBarrier();
    expect(store.compactedRevision).toBe(toRevision(10));
  }
  await agree(cluster);
  expect(hashes(cluster)[0]?.split(" ").slice(1)).toEqual(before as string[]);
});

test("a learner serves consistent reads and accepts writes, and does not count for the quorum", async () => {
  await using cluster = await start(1);
  const learner = await cluster.join({ promote: false });
  expect(learner.cluster.status().role).toBe("learner");
  await learner.store.commit(put(a, "1"));
  await cluster.replica(1).store.commit(put(a, "2"));
  await learner.store.readBarrier();
  expect(bodyText(learner.store.get(a))).toContain('"2"');
  cluster.network.isolate(toMemberId(2));
  expect(await cluster.replica(1).store.commit(put(a, "3"))).toMatchObject({ kind: "applied" });
});

test("changes that would lose the quorum, or that reach the wrong replica, are rejected with their reason", async () => {
  await using cluster = await start(3);
  const leader = await cluster.leader();
  const follower = cluster.follower();
  const { id: _, ...known } = leader.cluster.members()[1] as {
    id: number;
    name: string;
    peerAddress: string;
    clientUrl: string;
  };
  const refusals: [Promise<unknown>, string][] = [
    [follower.cluster.addLearner({ ...known, name: "m9", peerAddress: "127.0.0.1:7009" }), "notLeader"],
    [leader.cluster.addLearner(known), "conflict"],
    [leader.cluster.promote(9), "unknownMember"],
    [leader.cluster.promote(follower.cluster.self), "conflict"],
  ];
  for (const [refused, code] of refusals) {
    await expect(refused).rejects.toBeInstanceOf(ClusterError);
    await expect(refused).rejects.toMatchObject({ code });
  }
  const gone = cluster.replicas.find(
    ({ cluster: { self } }) => self !== leader.cluster.self && self !== follower.cluster.self,
  );
  cluster.network.isolate(toMemberId(gone?.cluster.self ?? 0));
  await eventually(() =>
    leader.cluster.status().members.some(({ isActive }) => isActive === false) ? true : undefined,
  );
  const remove = leader.cluster.remove(follower.cluster.self);
  await expect(remove).rejects.toMatchObject({ code: "quorumAtRisk" });
  await expect(remove).rejects.toThrow("only 1 of 2 voters would be there, which is no quorum");
});

test("closing a leader hands leadership to another, and clients know it at once", async () => {
  await using cluster = await start(3);
  const leader = await cluster.leader();
  const other = cluster.follower();
  const { term } = other.cluster.status();
  await cluster.close(leader.cluster.self);
  const known = () => other.cluster.status().leader;
  await eventually(() => (known() !== undefined && known() !== leader.cluster.self ? true : undefined));
  // One election, without a failed candidate.
  expect(other.cluster.status().term).toBe(term + 1);
});

test("leadership is transferred, and a removed member is forgotten", async () => {
  await using cluster = await start(3);
  const leader = await cluster.leader();
  const next = cluster.follower();
  await leader.cluster.transferLeadership(next.cluster.self);
  expect((await cluster.leader()).cluster.self).toBe(next.cluster.self);
  const record = next.cluster.members().find(({ id }) => id === leader.cluster.self) as MemberRecord;
  await eventually(() =>
    next.cluster.remove(record.id).then(
      () => true,
      () => undefined,
    ),
  );
  expect(next.cluster.members().map(({ id }) => id)).toEqual([1, 2, 3].filter((id) => id !== record.id));
  // The record that an interrupted removal leaves.
  await next.cluster.updateMember(record);
  const roles = () => new Map(next.cluster.status().members.map(({ id, role }) => [id, role]));
  expect(roles().get(record.id)).toBe("none");
  await next.cluster.remove(record.id);
  expect([...roles().values()].sort()).toEqual(["leader", "voter"]);
  expect(await next.store.commit(put(a, "two are left"))).toMatchObject({ kind: "applied" });
});
