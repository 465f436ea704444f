import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { Reader, Writer } from "protobufjs/light.js";
import { bodyText, del, put } from "../../../test/contract/store-commands.ts";
import { CuttableNetwork } from "../../../test/etcd/cuttable-network.ts";
import { EtcdMember, hasEtcd, startEtcdCluster } from "../../../test/etcd/etcd-member.ts";
import type { Key } from "../../api/entry.ts";
import type { Revision } from "../../api/revision.ts";
import { systemClock } from "../../process/clock.ts";
import { Cacher } from "../cacher/cacher.ts";
import { CompactedError, type Store, type StoreEvent, StoreUnavailableError } from "../store.ts";
import { type Int64, methods } from "./client/messages.ts";
import { openTestStore, plainLayout } from "./testing.ts";

const a: Key = "/registry/pods/default/a";
const b: Key = "/registry/pods/default/b";
const any = { limit: 10_000, prefix: "/registry/" };

/** Number of increments that run together. */
const workers = 8;

setDefaultTimeout(60_000);

if (hasEtcd("etcd-faults.test.ts")) {
  let opened: AsyncDisposableStack;
  const using = <T extends AsyncDisposable>(part: T): T => opened.use(part);
  const openStore = async (...urls: string[]): Promise<Store> => {
    const { store } = await openTestStore(urls);
    opened.defer(() => store.close());
    return store;
  };
  opened = new AsyncDisposableStack();
  afterEach(async () => {
    await opened.disposeAsync();
    opened = new AsyncDisposableStack();
  });

  describe("two stores on one etcd", () => {
    test("each sees the other's writes, and a barrier makes them visible", async () => {
      const member = using(await EtcdMember.start());
      const [one, two] = [await openStore(member.url), await openStore(member.url)];
      const written = await one.commit(put(a, "from one"));
      expect(written).toMatchObject({ kind: "applied", revision: 2 });
      await two.readBarrier();
      expect(bodyText(two.get(a))).toBe(bodyText(one.get(a)));
      const guard = { kind: "revision", revision: 2 as Revision } as const;
      const answers = await Promise.all([
        one.commit(put(a, "one again", { expect: guard })),
        two.commit(put(a, "two too", { expect: guard })),
      ]);
      expect(answers.map(({ kind }) => kind).sort()).toEqual(["applied", "rejected"]);
      await Promise.all([one.readBarrier(), two.readBarrier()]);
      expect(bodyText(one.get(a))).toBe(bodyText(two.get(a)));
      expect(await one.eventsAfter(1 as Revision, any)).toEqual(await two.eventsAfter(1 as Revision, any));
    });

    test("no increment is lost, and each is acknowledged once", async () => {
      const member = using(await EtcdMember.start());
      const stores = [await openStore(member.url), await openStore(member.url)];
      const counts = await Promise.all(
        Array.from({ length: workers }, (_, at) =>
          increments(stores[at % 2] as Store, `worker ${at}`, (written) => written === 25),
        ),
      );
      expect(counts.every(({ unknown }) => unknown === 0)).toBe(true);
      expect(await stores[0]?.readBarrier()).toBe(stores[1]?.revision as Revision);
      expect(valueOf(stores[0] as Store)).toBe(25 * workers);
    });
  });

  describe("three members", () => {
    test("the store goes on when its member is killed, and no write is lost or done twice", async () => {
      const members = await startEtcdCluster(3);
      for (const member of members) using(member);
      const urls = members.map(({ url }) => url);
      const { store, client } = await openTestStore(urls);
      opened.defer(() => store.close());
      const heard: StoreEvent[] = [];
      store.subscribe((events) => void heard.push(...events));
      let isOver = false;
      const running = Promise.all(
        Array.from({ length: workers }, (_, at) => increments(store, `worker ${at}`, () => isOver)),
      );
      for (let round = 0; round < 2; round++) {
        expect(await store.waitFor((store.revision + 40) as Revision, 20_000)).toBe(true);
        const used = members.find(({ url }) => url === client.endpoint) as EtcdMember;
        await used.kill();
        await store.readBarrier();
        used.spawn();
        await used.ready();
      }
      isOver = true;
      const counts = await running;
      const acknowledged = counts.reduce((sum, { done }) => sum + done, 0);
      const unknown = counts.reduce((sum, count) => sum + count.unknown, 0);
      await store.readBarrier();
      expect(valueOf(store)).toBeGreaterThanOrEqual(acknowledged);
      expect(valueOf(store)).toBeLessThanOrEqual(acknowledged + unknown);
      expect(await store.eventsAfter(1 as Revision, { ...any, limit: heard.length + 1 })).toEqual(heard);
    });

    test("a member that is cut off is replaced by another", async () => {
      const members = await startEtcdCluster(3);
      const networks: CuttableNetwork[] = [];
      for (const member of members) {
        using(member);
        networks.push(using(await CuttableNetwork.open(member.clientPort)));
      }
      const { store, client } = await openTestStore(networks.map(({ url }) => url));
      opened.defer(() => store.close());
      await store.commit(put(a, "before"));
      const used = networks.find(({ url }) => url === client.endpoint) as CuttableNetwork;
      used.cut();
      const guard = { kind: "revision", revision: 2 as Revision } as const;
      const [updated, created] = await Promise.allSettled([
        store.commit(put(a, "after", { expect: guard })),
        store.commit(put(b, "after", { expect: { kind: "absent" } })),
      ]);
      expect(updated).toMatchObject({ status: "fulfilled", value: { kind: "applied", revision: 3 } });
      // It may still arrive.
      expect(created).toMatchObject({ status: "rejected", reason: { outcome: "unknown" } });
      expect(client.endpoint).not.toBe(used.url);
      expect(await store.readBarrier()).toBe(3 as Revision);
    });

    test("writes go on while the leadership moves, and each has one known outcome", async () => {
      const members = await startEtcdCluster(3);
      for (const member of members) using(member);
      const store = await openStore(...members.map(({ url }) => url));
      let isOver = false;
      const running = Promise.all(
        Array.from({ length: workers }, (_, at) => increments(store, `worker ${at}`, () => isOver)),
      );
      for (let round = 0; round < 3; round++) {
        expect(await store.waitFor((store.revision + 40) as Revision, 20_000)).toBe(true);
        const leader = await leaderOf(members);
        const other = members.find((member) => member !== leader) as EtcdMember;
        using connection = other.connect();
        const { header } = await connection.call(methods.status, {}, 5_000);
        using toLeader = leader.connect();
        await toLeader.call(moveLeader, header.memberId, 5_000);
      }
      isOver = true;
      const counts = await running;
      expect(counts.map(({ unknown }) => unknown)).toEqual(counts.map(() => 0));
      await store.readBarrier();
      expect(valueOf(store)).toBe(counts.reduce((sum, { done }) => sum + done, 0));
    });

    test("a frozen leader is replaced", async () => {
      const members = await startEtcdCluster(3);
      for (const member of members) using(member);
      const store = await openStore(...members.map(({ url }) => url));
      await store.commit(put(a, "before"));
      const leader = await leaderOf(members);
      leader.pause();
      try {
        const guard = { kind: "revision", revision: store.revision } as const;
        expect(await store.commit(put(a, "after", { expect: guard }))).toMatchObject({ kind: "applied" });
        await store.readBarrier();
      } finally {
        leader.resume();
      }
    });
  });

  test("without a quorum, reads and writes fail, and work again afterwards", async () => {
    const members = await startEtcdCluster(3);
    for (const member of members) using(member);
    const store = await openStore(...members.map(({ url }) => url));
    await store.commit(put(a, "before"));
    const [first, second] = members as [EtcdMember, EtcdMember];
    await Promise.all([first.kill(), second.kill()]);
    const [read, write] = await Promise.allSettled([store.readBarrier(), store.commit(put(b, "lost"))]);
    expect(read).toMatchObject({ status: "rejected", reason: { outcome: "notDone" } });
    expect(write).toMatchObject({ status: "rejected" });
    expect(store.failure).toBeUndefined();
    for (const member of [first, second]) member.spawn();
    await Promise.all([first.ready(), second.ready()]);
    expect(await store.commit(put(a, "after"))).toMatchObject({ kind: "applied" });
  });

  test("a watch that misses compacted changes takes over the current state", async () => {
    const member = using(await EtcdMember.start());
    const network = using(await CuttableNetwork.open(member.clientPort));
    const [near, far] = [await openStore(member.url), await openStore(network.url)];
    await near.commit(put(a, "1"));
    await near.commit(put(b, "1"));
    await far.readBarrier();
    const heard: { readonly types: readonly string[]; readonly jumped: boolean }[] = [];
    far.subscribe((events, _, jumped) => void heard.push({ types: events.map(({ type }) => type), jumped }));
    network.cut();
    network.reset();
    await near.commit(put(a, "2"));
    await near.commit(del(b, "1"));
    await near.commit(put(`${b}b`, "1"));
    await near.compact(near.revision);
    network.heal();
    expect(await far.waitFor(near.revision, 20_000)).toBe(true);
    expect(heard.filter(({ jumped }) => jumped)).toEqual([{ types: ["MODIFIED", "DELETED", "ADDED"], jumped: true }]);
    expect(far.scan("/registry/").map(bodyText)).toEqual(near.scan("/registry/").map(bodyText));
    await expect(far.eventsAfter(2 as Revision, any)).rejects.toBeInstanceOf(CompactedError);
  });

  test("all objects of a lease that ends reach the caches, and pages of history hold them together", async () => {
    const member = using(await EtcdMember.start());
    const layout = { ...plainLayout, ttlSecondsOf: () => 600 };
    const { store } = await openTestStore([member.url], { layout });
    opened.defer(() => store.close());
    const leased = 300;
    await Promise.all(Array.from({ length: leased }, (_, at) => store.commit(put(`${a}${at}`, "leased"))));
    const before = store.revision;
    const cacher = new Cacher({ store, prefix: "/registry/pods/", clock: systemClock });
    opened.defer(() => cacher.close());
    expect(cacher.size).toBe(leased);
    using connection = member.connect();
    for (const id of await connection.call(leaseIds, {}, 5_000)) await connection.call(leaseRevoke, id, 5_000);
    expect(await store.readBarrier()).toBe((before + 1) as Revision);
    expect(cacher.size).toBe(0);
    const page = await store.eventsAfter(before, { prefix: "/registry/", limit: 10 });
    expect(page.map(({ type }) => type)).toEqual(Array.from({ length: leased }, () => "DELETED"));
    expect(await store.eventsAfter((before - 20) as Revision, { prefix: "/registry/", limit: 10 })).toHaveLength(10);
  });

  test("another server's compaction is noticed by a reader of history", async () => {
    const member = using(await EtcdMember.start());
    const [one, two] = [await openStore(member.url), await openStore(member.url)];
    for (const text of ["1", "2", "3"]) await one.commit(put(a, text));
    await two.readBarrier();
    await one.compact(3 as Revision);
    await expect(two.scanAt(2 as Revision, { prefix: "/registry/" })).rejects.toMatchObject({ oldest: 3 });
    await expect(two.eventsAfter(2 as Revision, any)).rejects.toMatchObject({ oldest: 3 });
    expect((await two.scanAt(3 as Revision, { prefix: "/registry/" })).map(bodyText)).toHaveLength(1);
    const third = await openStore(member.url);
    expect(third.compactedRevision).toBe(3 as Revision);
  });

  test("a full database refuses writes, serves reads, and defragmentation does not disturb them", async () => {
    const member = using(await EtcdMember.start({ flags: [`--quota-backend-bytes=${1024 * 1024}`] }));
    const store = await openStore(member.url);
    const large = "x".repeat(100_000);
    let refusal: unknown;
    for (let turn = 0; turn < 400 && refusal === undefined; turn++) {
      await store.commit(put(a, `${large}${turn}`)).catch((error: unknown) => {
        refusal = error;
      });
    }
    expect(refusal).toBeInstanceOf(StoreUnavailableError);
    expect(refusal).toMatchObject({ outcome: "notDone", message: "etcd: etcdserver: mvcc: database space exceeded" });
    expect(await store.readBarrier()).toBe(store.revision);
    expect(store.failure).toBeUndefined();
    using connection = member.connect();
    await store.compact(store.revision);
    await connection.call(defragment, {}, 10_000);
    expect(await store.readBarrier()).toBe(store.revision);
  });

  test("an etcd that was restored from an older copy stops the store with the reason", async () => {
    const member = using(await EtcdMember.start());
    const { store, failed } = await openTestStore([member.url]);
    opened.defer(() => store.close());
    await store.commit(put(a, "1"));
    await member.kill();
    const copy = join(member.directory, "copy");
    await cp(join(member.directory, "data"), copy, { recursive: true });
    member.spawn();
    await member.ready();
    await store.commit(put(a, "2"));
    await member.kill();
    await cp(copy, join(member.directory, "data"), { recursive: true, force: true });
    member.spawn();
    await member.ready();
    expect((await failed).message).toStartWith("etcd went back from revision 3 to 2:");
    await expect(store.commit(put(a, "3"))).rejects.toThrow("went back");
  });

  test("an etcd that was replaced by another with a later revision stops the store with the reason", async () => {
    const member = using(await EtcdMember.start());
    const { store, failed } = await openTestStore([member.url]);
    opened.defer(() => store.close());
    await store.commit(put(a, "1"));
    const other = using(await EtcdMember.start());
    const otherStore = await openStore(other.url);
    for (const text of ["1", "2", "3"]) await otherStore.commit(put(a, text));
    await Promise.all([member.kill(), other.kill()]);
    const data = join(member.directory, "data");
    await rm(data, { recursive: true });
    await cp(join(other.directory, "data"), data, { recursive: true });
    member.spawn();
    await member.ready();
    expect((await failed).message).toMatch(/^etcd is cluster \d+ and was cluster \d+: it was restored/);
    await expect(store.commit(put(a, "2"))).rejects.toThrow("it was restored");
  });
}

/** Field 1, a varint. */
const targetTag = 8;

const empty = { encode: () => Buffer.alloc(0), decode: () => ({}) };
const defragment = { path: "/etcdserverpb.Maintenance/Defragment", request: empty, response: empty };

/** Lists the numbers of all leases. */
const leaseIds = {
  path: "/etcdserverpb.Lease/LeaseLeases",
  request: empty,
  response: { encode: () => Buffer.alloc(0), decode: readLeaseIds },
};

const leaseRevoke = {
  path: "/etcdserverpb.Lease/LeaseRevoke",
  request: {
    encode: (id: Int64) =>
      Buffer.from(
        Writer.create()
          .uint32(targetTag)
          .int64(id as number)
          .finish(),
      ),
    decode: () => 0,
  },
  response: empty,
};

const moveLeader = {
  path: "/etcdserverpb.Maintenance/MoveLeader",
  request: {
    encode: (target: Int64) =>
      Buffer.from(
        Writer.create()
          .uint32(targetTag)
          .uint64(target as number)
          .finish(),
      ),
    decode: () => 0,
  },
  response: empty,
};

/** Increments a number again and again; each write names its writer, so that no two are equal. */
async function increments(
  store: Store,
  name: string,
  isOver: (written: number) => boolean,
): Promise<{ done: number; unknown: number }> {
  let done = 0;
  let unknown = 0;
  while (!isOver(done + unknown)) {
    const current = store.get(a);
    const guard =
      current === undefined
        ? ({ kind: "absent" } as const)
        : ({ kind: "revision", revision: current.revision } as const);
    const next = (current === undefined ? 0 : valueOf(store)) + 1;
    try {
      const { kind } = await store.commit(put(a, `${next} by ${name}`, { expect: guard }));
      if (kind === "applied") done++;
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      if (error.outcome === "unknown") unknown++;
    }
  }
  return { done, unknown };
}

function valueOf(store: Store): number {
  const { data } = JSON.parse(bodyText(store.get(a))) as { data: string };
  return Number.parseInt(data, 10);
}

/** Asks again if the members elect another leader meanwhile, as those of a busy machine do. */
async function leaderOf(members: readonly EtcdMember[]): Promise<EtcdMember> {
  for (;;) {
    for (const member of members) {
      using connection = member.connect();
      const { header } = await connection.call(methods.status, {}, 5_000);
      const { leader } = await connection.call(leaderStatus, {}, 5_000);
      if (String(header.memberId) === leader) return member;
    }
  }
}

/** Reads the leader's number, which the store does not need. */
const leaderStatus = {
  path: methods.status.path,
  request: empty,
  response: { encode: () => Buffer.alloc(0), decode: (bytes: Uint8Array) => ({ leader: readLeader(bytes) }) },
};

const leaderField = 4;
const leasesField = 2;

function readLeaseIds(bytes: Uint8Array): Int64[] {
  const ids: Int64[] = [];
  const reader = Reader.create(bytes);
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag >>> 3 !== leasesField) reader.skipType(tag & 7);
    else {
      // A lease has one field, its number.
      reader.uint32();
      reader.uint32();
      ids.push(reader.int64() as unknown as Int64);
    }
  }
  return ids;
}

function readLeader(bytes: Uint8Array): string {
  const reader = Reader.create(bytes);
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag >>> 3 === leaderField) return String(reader.uint64());
    reader.skipType(tag & 7);
  }
  return "";
}
