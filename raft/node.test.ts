import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toTerm } from "./core/ids.ts";
import type { Message } from "./core/message.ts";
import { CounterState } from "./example/counter-state.ts";
import {
  foundedBy,
  type MemberId,
  type Membership,
  MemoryLog,
  membershipOf,
  noFaults,
  noMembership,
  RaftNode,
  type SnapshotMeta,
  type Transport,
  type TransportEvents,
  toIndex,
  toMemberId,
} from "./index.ts";
import type { RaftNodeOptions } from "./node-options.ts";
import { createLogOn, openLogOn } from "./storage/open-log.ts";
import { SimulatedDisk } from "./storage/simulated-disk.ts";
import { Cluster, type Member, quickTiming, stopClusters } from "./testing/local-cluster.ts";
import { random } from "./testing/seed.ts";
import { until } from "./testing/until.ts";

const timing = quickTiming;
/** Longer timeouts for tests of time limits. */
const slower = { ...timing, electionMs: 400 };
const bytes = (text: string) => new TextEncoder().encode(text);
const noContext = new Uint8Array();

afterEach(stopClusters);

describe("a cluster", () => {
  test.each([1, 2, 3, 5])("of %i members answers proposals made at any of them", async (count) => {
    const cluster = await Cluster.led(count);
    for (const member of cluster.members.values()) await cluster.add(member, "a 1");
    for (const { node, state } of cluster.members.values()) {
      await node.readIndex();
      expect(state.sums.get("a")).toBe(count);
    }
  });

  test("answers many proposals at once, each with its own result", async () => {
    const cluster = await Cluster.led(3);
    const leader = await cluster.leader();
    const results = await Promise.all(Array.from({ length: 500 }, () => leader.node.propose(bytes("a 1"))));
    expect(results.map(({ result }) => result)).toEqual(Array.from({ length: 500 }, (_, position) => position + 1));
    const follower = [...cluster.members.values()].find((member) => member !== leader) as Member;
    const forwarded = await Promise.all(Array.from({ length: 200 }, () => follower.node.propose(bytes("b 1"))));
    expect(forwarded.map(({ result }) => result).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 200 }, (_, position) => position + 1),
    );
  });

  test("works over a network that loses, repeats and reorders messages", async () => {
    const cluster = await Cluster.of(3, { timing: { ...slower, proposalMs: 300 } });
    await cluster.leader();
    cluster.network.faults = { delayMs: [0, 4], loss: 0.05, duplication: 0.1, reorder: 0.2 };
    let unknown = 0;
    let known = 0;
    for (let round = 0; round < 60; round++) {
      const member = cluster.member(1 + (round % 3));
      await cluster.add(member, "a 1").then(
        () => known++,
        () => unknown++,
      );
    }
    cluster.network.faults = noFaults;
    await cluster.leader();
    for (const { node, state } of cluster.members.values()) {
      await node.readIndex();
      expect(state.sums.get("a") ?? 0).toBeGreaterThanOrEqual(known);
      expect(state.sums.get("a") ?? 0).toBeLessThanOrEqual(known + unknown);
    }
  }, 60_000);

  test("elects another leader when it is cut off, and the old one confirms no read", async () => {
    const cluster = await Cluster.of(3, { timing: slower });
    const old = await cluster.leader();
    await cluster.add(old, "a 1");
    cluster.network.isolate(old.node.status().id);
    const stale = old.node.readIndex().then(
      () => "confirmed",
      (error: { code: string }) => error.code,
    );
    const lost = old.node.propose(bytes("a 100")).then(
      () => "applied",
      (error: { code: string }) => error.code,
    );
    const rest = [...cluster.members.values()].filter((member) => member !== old);
    const leader = await cluster.leader(rest);
    expect(await cluster.add(leader, "a 1")).toBe(2);
    await until(() => old.node.status().role !== "leader", "the old leader to step down");
    cluster.network.heal();
    await until(() => old.state.sums.get("a") === 2, "the old leader to catch up");
    expect(await stale).not.toBe("confirmed");
    expect(await lost).toBe("dropped");
  });

  test("says that it knows of no leader when it has none", async () => {
    const cluster = await Cluster.of(2);
    await cluster.leader();
    cluster.network.isolate(toMemberId(1));
    for (const { node } of cluster.members.values()) {
      await until(() => node.status().leader === 0, "the leader to be forgotten");
      await expect(node.propose(bytes("a 1"))).rejects.toMatchObject({ code: "noLeader", leader: 0 });
      await expect(node.readIndex()).rejects.toMatchObject({ code: "noLeader" });
    }
  });
});

describe("membership", () => {
  test("grows by a learner that catches up and is promoted, and shrinks by its leader", async () => {
    const cluster = await Cluster.of(3, { timing: slower });
    const leader = await cluster.leader();
    for (let round = 0; round < 20; round++) await cluster.add(leader, "a 1");
    const joining = await cluster.start(4, MemoryLog.create({ ...cluster.base, membership: noMembership }), undefined, {
      seeds: [1, 2, 3].map(toMemberId),
    });
    const four = toMemberId(4);
    await leader.node.changeMembership({ steps: [{ operation: "addLearner", member: four }], context: noContext });
    await until(() => joining.state.sums.get("a") === 20, "the learner to catch up");
    await until(
      () => leader.node.status().progress.some(({ member, match }) => member === four && match >= 20),
      "the leader to see it",
    );
    await leader.node.changeMembership({ steps: [{ operation: "promote", member: four }], context: noContext });
    expect(leader.node.status().membership.voters).toEqual([1, 2, 3, 4].map(toMemberId));
    const leaving = leader.node.status().id;
    await leader.node.changeMembership({ steps: [{ operation: "remove", member: leaving }], context: noContext });
    const rest = [...cluster.members.values()].filter((member) => member !== leader);
    const next = await cluster.leader(rest);
    expect(await cluster.add(next, "a 1")).toBe(21);
    expect(next.node.status().membership.voters).not.toContain(leaving);
  });

  test("leadership is handed over without an election timeout", async () => {
    const cluster = await Cluster.led(3);
    const leader = await cluster.leader();
    await cluster.add(leader, "a 1");
    const to = [...cluster.members.keys()].find((id) => id !== leader.node.status().id) as MemberId;
    leader.node.transferLeadership(to);
    await until(() => cluster.member(to).node.status().role === "leader", "the transfer");
  });

  test("changes and transfers at a follower are refused", async () => {
    const cluster = await Cluster.led(3);
    const leader = await cluster.leader();
    const follower = [...cluster.members.values()].find((member) => member !== leader) as Member;
    const change = { steps: [{ operation: "addLearner", member: toMemberId(9) }], context: noContext } as const;
    await expect(follower.node.changeMembership(change)).rejects.toMatchObject({ code: "noLeader" });
    expect(() => follower.node.transferLeadership(toMemberId(1))).toThrow(/no leader/);
  });
});

describe("compaction and snapshots", () => {
  test("a member that was away gets a snapshot, and a restart finds it", async () => {
    const scratch = mkdtempSync(join(tmpdir(), "raft-node-"));
    const path = (id: number) => join(scratch, String(id));
    const cluster = new Cluster([1, 2, 3], { logBytesMax: 4000, tailEntries: 5 });
    for (const id of [1, 2, 3]) await cluster.start(id, MemoryLog.create(cluster.base), new CounterState(path(id)));
    const leader = await cluster.leader();
    const away = [...cluster.members.entries()].find(([, member]) => member !== leader)?.[0] as MemberId;
    cluster.network.isolate(away);
    for (let round = 0; round < 300; round++) await cluster.add(leader, "a 1");
    await until(() => leader.node.status().baseIndex > 200, "compaction");
    cluster.network.heal();
    const member = cluster.member(away);
    await until(() => member.state.sums.get("a") === 300, "the snapshot");
    expect(member.node.status().baseIndex).toBeGreaterThan(0);
    await cluster.add(leader, "a 1");
    await until(() => member.state.sums.get("a") === 301, "entries behind the snapshot");
    await member.node.stop();
    const again = await cluster.start(away, (member.log as MemoryLog).reopen(), new CounterState(path(away)));
    expect(again.state.sums.get("a")).toBeGreaterThanOrEqual(200);
    await cluster.add(again, "a 1");
    expect(again.state.sums.get("a")).toBe(302);
    expect([...cluster.members.values()].flatMap(({ failures }) => failures)).toEqual([]);
    rmSync(scratch, { recursive: true });
  });

  test("a crash after the state was restored and before the log knew: the log is put right at the start", async () => {
    const cluster = new Cluster([1, 2, 3]);
    const expected = { ...cluster.base, index: toIndex(50), term: 3 as SnapshotMeta["term"] };
    const log = MemoryLog.create(cluster.base);
    await log.append({ expected, entries: [] });
    const state = new CounterState();
    await state.restore(toIndex(50), chunksOf(JSON.stringify({ applied: 50, sums: [["a", 7]] })));
    const found = log.reopen();
    const { node } = await cluster.start(1, found, state);
    expect(node.status()).toMatchObject({ baseIndex: 50, applied: 50, lastIndex: 50 });
    expect(found.reopen().recovered).toMatchObject({ base: expected, hardState: { term: 3, vote: 0, commit: 50 } });
  });

  test("after a crash before the state was restored, the old state is used and the snapshot is requested again", async () => {
    const cluster = new Cluster([1, 2, 3]);
    const log = MemoryLog.create(cluster.base);
    await log.append({ expected: { ...cluster.base, index: toIndex(50) }, entries: [] });
    const { node } = await cluster.start(1, log.reopen());
    expect(node.status()).toMatchObject({ baseIndex: 0, applied: 0 });
  });
});

test("a state that is ahead of the log gets no entry twice", async () => {
  let events: TransportEvents | undefined;
  const transport: Transport = {
    start: async (given) => {
      events = given;
    },
    setMembers: () => {},
    send: () => {},
    sendSnapshot: async () => {},
    close: async () => {},
  };
  const [one, two] = [1, 2].map(toMemberId) as [MemberId, MemberId];
  const applied: number[] = [];
  const state = new CounterState();
  const apply = state.apply.bind(state);
  state.apply = (entries) => {
    applied.push(...entries.map(({ index }) => index));
    return apply(entries);
  };
  const log = MemoryLog.create(foundedBy(membershipOf([one, two])));
  const node = await RaftNode.start({ id: two, log, transport, stateMachine: state, timing: slower });
  const append = (from: number, to: number, commit: number): Message => ({
    type: "append",
    from: one,
    to: two,
    term: toTerm(5),
    prevIndex: toIndex(from - 1),
    prevTerm: toTerm(from === 1 ? 0 : 5),
    commit: toIndex(commit),
    entries: Array.from({ length: to - from + 1 }, (_, position) => ({
      index: toIndex(from + position),
      term: toTerm(5),
      kind: "normal",
      data: bytes("a 1"),
    })),
  });
  events?.receive(append(1, 5, 3));
  await until(() => applied.length === 3, "the first entries");
  // In a snapshot from a leader of an earlier term, the state takes the snapshot and the core ignores it.
  const snapshot = { index: toIndex(10), term: toTerm(5), membership: membershipOf([one, two]) };
  const stale = { type: "snapshot", from: one, to: two, term: toTerm(1), snapshot } as const;
  await events?.receiveSnapshot(stale, chunksOf(JSON.stringify({ applied: 10, sums: [["a", 10]] })));
  expect(node.status().baseIndex).toBe(toIndex(0));
  events?.receive(append(6, 12, 12));
  await until(() => node.status().applied === 12, "the rest");
  expect(applied).toEqual([1, 2, 3, 11, 12]);
  expect(state.sums.get("a")).toBe(12);
  await node.stop();
});

async function* chunksOf(text: string) {
  yield bytes(text);
}

describe("a disk that fails", () => {
  async function clusterOnDisks(extra: Partial<RaftNodeOptions<number>> = {}) {
    const cluster = new Cluster([1, 2, 3]);
    const disks = new Map<MemberId, SimulatedDisk>();
    for (const id of [1, 2, 3]) {
      const disk = new SimulatedDisk({ random });
      const owner = { clusterId: "test", memberId: toMemberId(id) };
      await createLogOn(disk, owner, cluster.base);
      const { log } = await openLogOn(disk, owner);
      disks.set(toMemberId(id), disk);
      await cluster.start(id, log, undefined, extra);
    }
    return { cluster, disks };
  }

  test("stops its member, whose proposals end as unknown, and the others continue", async () => {
    const { cluster, disks } = await clusterOnDisks();
    const leader = await cluster.leader();
    await cluster.add(leader, "a 1");
    const disk = disks.get(leader.node.status().id) as SimulatedDisk;
    disk.failNext("sync", "EIO", "0000000001");
    const outcome = leader.node.propose(bytes("a 1")).catch((error: { code: string }) => error.code);
    await until(() => leader.failures.length > 0, "the failure");
    expect(leader.failures[0]?.message).toMatch(/EIO/);
    // The others may have committed it before the disk failed.
    expect([{ index: expect.any(Number), result: 2 }, "stopped"]).toContainEqual(await outcome);
    await expect(leader.node.propose(bytes("a 1"))).rejects.toMatchObject({ code: "stopped" });
    const rest = [...cluster.members.values()].filter((member) => member !== leader);
    const next = await cluster.leader(rest);
    expect(await cluster.add(next, "b 1")).toBe(1);
  });

  test("hangs: its leader steps down, and comes back as a follower", async () => {
    const stalls: string[] = [];
    const events = { stalled: (what: string) => stalls.push(what) };
    const { cluster, disks } = await clusterOnDisks({ events, timing: slower });
    const leader = await cluster.leader();
    await cluster.add(leader, "a 1");
    const release = (disks.get(leader.node.status().id) as SimulatedDisk).hangNext("sync", "0000000001");
    void leader.node.propose(bytes("a 1")).catch(() => {});
    await until(() => leader.node.status().role !== "leader", "the leader to step down");
    expect(stalls).toContain("disk");
    const rest = [...cluster.members.values()].filter((member) => member !== leader);
    const next = await cluster.leader(rest);
    await cluster.add(next, "b 1");
    release();
    await until(() => leader.state.sums.get("b") === 1, "the member to catch up");
    expect(leader.failures).toEqual([]);
  });

  test("a process that stood still gives up leadership before anything else", async () => {
    const stalls: string[] = [];
    const { cluster } = await clusterOnDisks({ events: { stalled: (what) => stalls.push(what) } });
    const leader = await cluster.leader();
    Bun.sleepSync(2 * timing.electionMs);
    await until(() => stalls.includes("process"), "the stall to be noticed");
    await cluster.leader();
    expect(leader.failures).toEqual([]);
  });
});

test("nothing is answered after the end, and the end leaves no member waiting", async () => {
  const cluster = await Cluster.led(3);
  const leader = await cluster.leader();
  const outcomes = Array.from({ length: 50 }, () =>
    leader.node.propose(bytes("a 1")).then(
      () => "applied",
      (error) => error.code,
    ),
  );
  await leader.node.stop();
  expect((await Promise.all(outcomes)).every((outcome) => outcome === "applied" || outcome === "stopped")).toBe(true);
  await expect(leader.node.readIndex()).rejects.toMatchObject({ code: "stopped" });
});

test("memberships are reported when they come into force", async () => {
  const seen: Membership[] = [];
  const cluster = await Cluster.led(1, { events: { membership: (membership) => seen.push(membership) } });
  const leader = await cluster.leader();
  // A leader does not change the membership before it has committed an entry of its own term.
  await leader.node.propose(new Uint8Array());
  const steps = [{ operation: "addLearner", member: toMemberId(2) }] as const;
  await leader.node.changeMembership({ steps, context: noContext });
  expect(seen.at(-1)?.learners).toEqual([toMemberId(2)]);
});
