import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Entry as LogRecord, toIndex, toMemberId } from "../../../../raft/index.ts";
import { ClusterInProcess } from "../../../../test/contract/cluster-in-process.ts";
import { del, put } from "../../../../test/contract/store-commands.ts";
import { storeContract } from "../../../../test/contract/store-contract.ts";
import type { Entry } from "../../../api/entry.ts";
import { type StoreEvent, StoreUnavailableError } from "../../store.ts";
import type { LogFollower } from "../log-followers.ts";
import { type OpenReplica, openReplica } from "../open-replica.ts";
import { historyPageMax } from "./message.ts";
import { MirrorFeed } from "./mirror-feed.ts";
import { type OpenMirror, openMirror } from "./open-mirror.ts";

const root = mkdtempSync(join(tmpdir(), "mirror-"));
let directories = 0;
let opened = new AsyncDisposableStack();
afterEach(async () => {
  await opened.disposeAsync();
  opened = new AsyncDisposableStack();
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

interface Owner extends OpenReplica {
  readonly path: string;
  readonly feed: MirrorFeed;
}

async function owner(limits: { backlogBytesMax?: number } = {}): Promise<Owner> {
  const directory = join(root, `${++directories}`);
  const replica = await openReplica({ directory });
  await replica.store.readBarrier();
  const path = join(directory, "mirrors");
  const feed = new MirrorFeed(replica.source, path, limits);
  opened.defer(async () => {
    feed[Symbol.dispose]();
    await replica.store.close();
  });
  return { ...replica, path, feed };
}

async function mirrorOf({ path }: Owner): Promise<OpenMirror> {
  const mirror = await openMirror(path);
  opened.defer(() => mirror.store.close());
  return mirror;
}

storeContract("mirror", async () => (await mirrorOf(await owner())).store);

function emptyEntry(index: number): LogRecord {
  return { index: toIndex(index), term: 1 as LogRecord["term"], kind: "empty", data: new Uint8Array(0) };
}

const a = "/registry/pods/default/a";
const b = "/registry/pods/default/b";
const everything = "/registry/";

test("a mirror starts with the owner's state, and follows the owner and other mirrors", async () => {
  const owned = await owner();
  await owned.store.commit(put(a, "1"));
  await owned.store.commit(put(b, "1"));
  const [one, other] = [await mirrorOf(owned), await mirrorOf(owned)];
  expect(one.store.scan(everything)).toEqual(owned.store.scan(everything));
  const heard: StoreEvent[] = [];
  one.store.subscribe((events) => void heard.push(...events));
  await other.store.commit(put(a, "2"));
  await owned.store.commit(del(b, "1"));
  expect(await one.store.readBarrier()).toBe(owned.store.revision);
  expect(one.store.scan(everything)).toEqual(owned.store.scan(everything));
  expect(heard.map(({ type, revision, previous }) => `${type} ${revision} ${previous?.revision}`)).toEqual([
    "MODIFIED 4 2",
    "DELETED 5 3",
  ]);
});

test("a read after a barrier sees what another process acknowledged before", async () => {
  const owned = await owner();
  const [writer, reader] = [await mirrorOf(owned), await mirrorOf(owned)];
  for (let turn = 0; turn < 50; turn++) {
    const written = await (turn % 2 === 0 ? writer : owned).store.commit(put(a, `${turn}`));
    const barriers = Array.from({ length: 5 }, async () => reader.store.readBarrier());
    await Promise.all(barriers);
    expect(reader.store.get(a)?.revision).toBe(written.kind === "applied" ? written.revision : undefined);
  }
});

test("history comes from the owner, in pages, also from before the mirror", async () => {
  const owned = await owner();
  const count = 2 * historyPageMax + 7;
  const keys = Array.from({ length: count }, (_, at) => `/registry/pods/default/${String(at).padStart(5, "0")}`);
  await Promise.all(keys.map((key) => owned.store.commit(put(key, "1"))));
  const at = owned.store.revision;
  const { store } = await mirrorOf(owned);
  await Promise.all(keys.map((key) => store.commit(del(key, "1"))));
  const then = await store.scanAt(at, { prefix: everything });
  expect(then).toEqual(await owned.store.scanAt(at, { prefix: everything }));
  expect(then.map(({ key }) => key)).toEqual(keys);
  const options = { prefix: everything, limit: 3 * count };
  expect(await store.eventsAfter(at, options)).toEqual(await owned.store.eventsAfter(at, options));
  expect(await store.eventsAfter(at, { ...options, limit: count - 1 })).toHaveLength(count - 1);
});

test("when the owner ends, the outcome of a write is unknown and reads fail", async () => {
  const owned = await owner();
  const { store, ended } = await mirrorOf(owned);
  const write = store.commit(put(a, "1"));
  owned.feed[Symbol.dispose]();
  await expect(write).rejects.toMatchObject({ name: "StoreUnavailableError", outcome: "unknown" });
  expect((await ended).message).toBe("the process that keeps the log has ended");
  expect(() => store.readBarrier()).toThrow(StoreUnavailableError);
  await expect(store.commit(put(a, "2"))).rejects.toBeInstanceOf(StoreUnavailableError);
});

test("a write of a mirror that ends is done or not, as the owner decides", async () => {
  const owned = await owner();
  const gone = await mirrorOf(owned);
  const write = gone.store.commit(put(a, "1"));
  await Bun.sleep(0);
  gone.store.fail(new StoreUnavailableError("killed"));
  await expect(write).rejects.toMatchObject({ outcome: "unknown" });
  const { store } = await mirrorOf(owned);
  await store.commit(put(b, "1"));
  expect(store.scan(everything)).toEqual(owned.store.scan(everything));
});

test("a mirror that falls too far behind gets a new image, and its listeners hear of the jump", async () => {
  const owned = await owner({ backlogBytesMax: 64 * 1024 });
  const mirror = await mirrorOf(owned);
  const jumps: boolean[] = [];
  const kept = new Map(mirror.store.scan(everything).map((entry) => [entry.key, entry]));
  mirror.store.subscribe((events, _, jumped) => {
    jumps.push(jumped);
    for (const { type, entry } of events) {
      if (type === "DELETED") kept.delete(entry.key);
      else kept.set(entry.key, entry);
    }
  });
  const large = "x".repeat(100_000);
  const own: Promise<unknown>[] = [];
  for (let turn = 0; turn < 20; turn++) {
    const key = `/registry/pods/default/${turn % 7}`;
    own.push(mirror.store.commit(put(key, `mine ${turn}`)).catch((error: unknown) => error));
    await owned.store.commit(turn % 5 === 4 ? del(key, large) : put(key, large));
  }
  for (const outcome of await Promise.all(own)) {
    if (outcome instanceof Error) expect(outcome).toMatchObject({ outcome: "unknown" });
  }
  await owned.store.readBarrier();
  expect(await mirror.store.waitFor(owned.store.revision, 5_000)).toBe(true);
  expect(jumps).toContain(true);
  expect(mirror.store.scan(everything)).toEqual(owned.store.scan(everything));
  expect([...kept.values()].sort((one, other) => (one.key < other.key ? -1 : 1))).toEqual(
    mirror.store.scan(everything),
  );
});

test("a read of history is repeated if a new image makes it void", async () => {
  const owned = await owner({ backlogBytesMax: 64 * 1024 });
  await owned.store.commit(put(a, "1"));
  const at = owned.store.revision;
  const then = await owned.store.scanAt(at, { prefix: everything });
  const { store } = await mirrorOf(owned);
  let jumps = 0;
  store.subscribe((_, __, jumped) => void (jumps += jumped ? 1 : 0));
  const large = "x".repeat(100_000);
  const reads: Promise<Entry[]>[] = [];
  for (let turn = 0; turn < 40; turn++) {
    reads.push(store.scanAt(at, { prefix: everything }));
    await owned.store.commit(put(b, large));
  }
  for (const read of reads) expect(await read).toEqual(then);
  expect(jumps).toBeGreaterThan(0);
});

test("a mirror that misses an entry of the log ends", async () => {
  const owned = await owner();
  const { source } = owned;
  const path = join(root, `${++directories}`);
  const followed: LogFollower[] = [];
  const lossy = { ...source, follow: (follower: LogFollower) => (followed.push(follower), source.follow(follower)) };
  const feed = opened.use(new MirrorFeed(lossy, path));
  const { ended } = await mirrorOf({ ...owned, path, feed });
  const { index } = owned.source.state.record();
  for (const follower of followed) follower.applied([emptyEntry(index + 2)]);
  expect((await ended).message).toBe(`the copy of the state is wrong: entry ${index + 2} came after ${index}`);
});

describe("in a cluster", () => {
  /** Starts a cluster, and a mirror of one of its replicas. */
  async function clusterWithMirror(choose: (cluster: ClusterInProcess) => Promise<OpenReplica>) {
    const limits = { log: { logBytesMax: 100_000, tailEntries: 10 } };
    const cluster = opened.use(await ClusterInProcess.start(join(root, `${++directories}`), 3, limits));
    await cluster.leader();
    const replica = await choose(cluster);
    const path = join(root, `${++directories}`);
    const feed = opened.use(new MirrorFeed(replica.source, path));
    return { cluster, replica, mirror: await mirrorOf({ ...replica, path, feed }) };
  }

  test("a mirror of a follower writes through the leader, and through the next one", async () => {
    const { cluster, replica, mirror } = await clusterWithMirror(async (cluster) => cluster.follower());
    await mirror.store.commit(put(a, "1"));
    const leader = await cluster.leader();
    await leader.store.readBarrier();
    expect(leader.store.get(a)).toEqual(mirror.store.get(a) as Entry);
    const writes = Array.from({ length: 20 }, (_, at) => mirror.store.commit(put(`${a}-${at}`, "x")));
    await cluster.close(leader.cluster.self);
    expect((await Promise.all(writes)).map(({ kind }) => kind)).toEqual(Array.from({ length: 20 }, () => "applied"));
    await mirror.store.commit(put(b, "1"));
    await replica.store.readBarrier();
    expect(mirror.store.scan(everything)).toEqual(replica.store.scan(everything));
  }, 60_000);

  test("a mirror follows its replica when that takes the image of another", async () => {
    const { cluster, replica, mirror } = await clusterWithMirror(async (cluster) => cluster.follower());
    const jumps: boolean[] = [];
    mirror.store.subscribe((_, __, jumped) => void jumps.push(jumped));
    const { self } = replica.cluster;
    const { network } = cluster;
    network.isolate(toMemberId(self));
    const { store } = await cluster.leader();
    const large = "x".repeat(2_000);
    for (let at = 0; at < 700; at++) await store.commit(put(`/registry/pods/default/${at % 7}`, `${at}${large}`));
    network.heal();
    expect(await mirror.store.waitFor(store.revision, 20_000)).toBe(true);
    expect(jumps).toContain(true);
    expect(mirror.store.scan(everything)).toEqual(store.scan(everything));
    await mirror.store.commit(put(b, "1"));
  }, 60_000);
});
