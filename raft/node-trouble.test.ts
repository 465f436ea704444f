import { afterEach, describe, expect, test } from "bun:test";
import { CounterState } from "./example/counter-state.ts";
import { type Entry, type MemberId, MemoryLog, type RaftError, type StateMachine, toMemberId } from "./index.ts";
import { createLogOn, openLogOn } from "./storage/open-log.ts";
import { SimulatedDisk } from "./storage/simulated-disk.ts";
import { Cluster, type Member, neverMs, quickTiming, stopClusters } from "./testing/local-cluster.ts";
import { random } from "./testing/seed.ts";
import { until } from "./testing/until.ts";

const timing = { ...quickTiming, electionMs: 400 };
const bytes = (text: string) => new TextEncoder().encode(text);

afterEach(stopClusters);

/** Takes entries and does not return until it is released. */
class HangingState implements StateMachine<number> {
  readonly state = new CounterState();
  #held: Promise<void> | undefined;

  hang(): () => void {
    let letGo = () => {};
    this.#held = new Promise((resolve) => (letGo = resolve));
    return () => {
      this.#held = undefined;
      letGo();
    };
  }

  async apply(entries: readonly Entry[]): Promise<number[]> {
    await this.#held;
    return this.state.apply(entries);
  }

  durableIndex = () => this.state.durableIndex();
  checkpoint = () => this.state.checkpoint();
  snapshot = () => this.state.snapshot();
  restore = (...snapshot: Parameters<CounterState["restore"]>) => this.state.restore(...snapshot);
}

async function clusterOf(voters: readonly number[], stalls: string[]) {
  const cluster = new Cluster(voters);
  const states = new Map<MemberId, HangingState>();
  const events = { stalled: (what: string) => void stalls.push(what) };
  for (const id of voters) {
    const stateMachine = new HangingState();
    states.set(toMemberId(id), stateMachine);
    const log = MemoryLog.create(cluster.base);
    await cluster.start(id, log, stateMachine.state, { stateMachine, timing, events });
  }
  return { cluster, states, stateOf: ({ node }: Member) => states.get(node.status().id) as HangingState };
}

const othersOf = (cluster: Cluster, one: Member) => [...cluster.members.values()].filter((member) => member !== one);

describe("a state machine that hangs", () => {
  test("has its leader step down, and not campaign again until it resumes", async () => {
    const stalls: string[] = [];
    const { cluster, stateOf } = await clusterOf([1, 2, 3], stalls);
    const leader = await cluster.leader();
    await cluster.add(leader, "a 1");
    const letGo = stateOf(leader).hang();
    const stuck = leader.node.propose(bytes("a 1"));
    await until(() => leader.node.status().role !== "leader", "the leader to step down");
    expect(stalls).toContain("stateMachine");
    const next = await cluster.leader(othersOf(cluster, leader));
    expect(await cluster.add(next, "b 1")).toBe(1);
    // Its log is like any other: it stores, votes and answers, and leads when it can.
    await until(
      () => leader.node.status().durable === next.node.status().commit,
      "the member to store what came after",
    );
    letGo();
    await until(() => leader.state.sums.get("b") === 1, "the member to catch up");
    expect((await stuck).result).toBe(2);
    expect(leader.failures).toEqual([]);
  });

  test("keeps a follower from standing for election", async () => {
    const { cluster, stateOf } = await clusterOf([1, 2], []);
    const leader = await cluster.leader();
    const [follower] = othersOf(cluster, leader) as [Member];
    await cluster.add(follower, "a 1");
    const letGo = stateOf(follower).hang();
    await cluster.add(leader, "a 1");
    const { commit } = leader.node.status();
    await until(() => follower.node.status().commit === commit, "the follower to hear of it");
    await Bun.sleep(timing.electionMs);
    cluster.network.isolate(leader.node.status().id);
    for (let waitedMs = 0; waitedMs < 3 * timing.electionMs; waitedMs += 20) {
      expect(follower.node.status().role).toBe("follower");
      await Bun.sleep(20);
    }
    letGo();
    await until(() => follower.node.status().role !== "follower", "it to stand again");
  });

  test("does not unseat the only voter, which no member can replace", async () => {
    const stalls: string[] = [];
    const { cluster, stateOf } = await clusterOf([1], stalls);
    const leader = await cluster.leader();
    await cluster.add(leader, "a 1");
    const { term } = leader.node.status();
    const letGo = stateOf(leader).hang();
    const stuck = leader.node.propose(bytes("a 1"));
    await until(() => stalls.length >= 2, "the stall to be told, and told again");
    let answered = false;
    const read = leader.node.readIndex().then(() => (answered = true));
    await Bun.sleep(20);
    expect(answered).toBe(false);
    letGo();
    expect((await stuck).result).toBe(2);
    await read;
    expect(leader.node.status()).toMatchObject({ role: "leader", term });
    expect(new Set(stalls)).toEqual(new Set(["stateMachine"]));
  });

  test("nor does a disk that hangs", async () => {
    const stalls: string[] = [];
    const cluster = new Cluster([1]);
    const disk = new SimulatedDisk({ random });
    const owner = { clusterId: "test", memberId: toMemberId(1) };
    await createLogOn(disk, owner, cluster.base);
    const { log } = await openLogOn(disk, owner);
    await cluster.start(1, log, undefined, { timing, events: { stalled: (what) => void stalls.push(what) } });
    const leader = await cluster.leader();
    await cluster.add(leader, "a 1");
    const release = disk.hangNext("sync", "0000000001");
    const stuck = leader.node.propose(bytes("a 1"));
    await until(() => stalls.includes("disk"), "the stall to be told");
    release();
    expect((await stuck).result).toBe(2);
    expect(leader.node.status().role).toBe("leader");
  });
});

test("a follower acknowledges nothing that is not on its disk", async () => {
  const cluster = new Cluster([1, 2]);
  const disks = new Map<MemberId, SimulatedDisk>();
  for (const id of [1, 2]) {
    const disk = new SimulatedDisk({ random });
    const owner = { clusterId: "test", memberId: toMemberId(id) };
    await createLogOn(disk, owner, cluster.base);
    disks.set(toMemberId(id), disk);
    await cluster.start(id, (await openLogOn(disk, owner)).log, undefined, { timing: { ...timing, electionMs: 5000 } });
  }
  cluster.member(1).node.campaign();
  const leader = await cluster.leader();
  const [follower] = othersOf(cluster, leader) as [Member];
  await cluster.add(leader, "a 1");
  const release = (disks.get(follower.node.status().id) as SimulatedDisk).hangNext("sync", "0000000001");
  let answered = false;
  const proposal = leader.node.propose(bytes("a 1")).then(() => (answered = true));
  await Bun.sleep(100);
  expect(answered).toBe(false);
  release();
  await proposal;
});

describe("a leader that is gone", () => {
  test("is replaced without an election timeout, and what was asked of it is answered at once", async () => {
    // Longer than the test may take: nothing here waits for a time limit.
    const slow = { ...timing, electionMs: neverMs, proposalMs: neverMs, readMs: neverMs };
    const cluster = await Cluster.of(3, { timing: slow });
    cluster.member(1).node.campaign();
    const leader = await cluster.leader();
    const [near, far] = othersOf(cluster, leader) as [Member, Member];
    await cluster.add(near, "a 1");
    cluster.network.faults = { delayMs: [1, 1], loss: 0, duplication: 0, reorder: 0 };
    const { lastIndex } = leader.node.status();
    // The leader accepts it, but no member hears from the leader any more.
    for (const { node } of [near, far]) cluster.network.cut(leader.node.status().id, node.status().id);
    const answer = near.node.propose(bytes("a 1")).catch((error: RaftError) => error.code);
    const read = near.node.readIndex().catch((error: RaftError) => error.code);
    await until(() => leader.node.status().lastIndex > lastIndex, "the leader to take the proposal");
    // No message of the leader is still on its way when the links are restored.
    cluster.network.faults = { ...cluster.network.faults, loss: 1 };
    await Bun.sleep(20);
    const stopped = leader.node.stop();
    cluster.network.heal();
    cluster.network.faults = { ...cluster.network.faults, loss: 0 };
    await stopped;
    const next = await cluster.leader([near, far]);
    expect(await answer).toBe("unknown");
    expect(await read).toBe("noLeader");
    expect(await cluster.add(next, "b 1")).toBe(1);
  });

  test("loses entries that no other member has: they are dropped when the next leader's entry arrives", async () => {
    const cluster = await Cluster.of(3, { timing: { ...timing, proposalMs: neverMs } });
    const leader = await cluster.leader();
    await cluster.add(leader, "a 1");
    cluster.network.isolate(leader.node.status().id);
    const lost = Array.from({ length: 5 }, () =>
      leader.node.propose(bytes("a 1")).catch((error: RaftError) => error.code),
    );
    const next = await cluster.leader(othersOf(cluster, leader));
    await until(() => next.node.status().role === "leader" && next !== leader, "another leader");
    await until(() => leader.node.status().role !== "leader", "the old one to step down");
    cluster.network.heal();
    expect(await Promise.all(lost)).toEqual(Array.from({ length: 5 }, () => "dropped"));
  });
});

describe("reads", () => {
  test("of the only voter are answered at once, without a message or a write", async () => {
    const cluster = await Cluster.of(1);
    const leader = await cluster.leader();
    await cluster.add(leader, "a 1");
    const seen: unknown[] = [];
    void leader.node.readIndex().then((index) => seen.push(index));
    await Promise.resolve();
    expect(seen).toEqual([leader.node.status().commit]);
  });

  test("that come together at a follower are one question to the leader", async () => {
    const cluster = await Cluster.of(3);
    const leader = await cluster.leader();
    const [follower] = othersOf(cluster, leader) as [Member];
    await cluster.add(follower, "a 1");
    let questions = 0;
    const carry = cluster.network.carry.bind(cluster.network);
    cluster.network.carry = (message) => {
      if (message.type === "readIndex") questions++;
      carry(message);
    };
    const indexes = await Promise.all(Array.from({ length: 64 }, () => follower.node.readIndex()));
    expect(new Set(indexes).size).toBe(1);
    expect(questions).toBe(1);
  });
});

test("an observer receives durations and outcomes", async () => {
  const heard: Record<string, number> = {};
  const note = (name: string, ms: number) => {
    expect(ms).toBeGreaterThanOrEqual(0);
    expect(ms).toBeLessThan(10_000);
    heard[name] = (heard[name] ?? 0) + 1;
  };
  const observer = {
    answered: (ms: number, outcome: string) => note(`answered ${outcome}`, ms),
    committed: (ms: number) => note("committed", ms),
    persisted: (ms: number) => note("persisted", ms),
    applied: (ms: number, entries: number) => note(`applied ${entries}`, ms),
  };
  const cluster = await Cluster.of(1, { observer });
  const leader = await cluster.leader();
  // The entry that opens the term must not be committed together with the first proposal.
  await leader.node.readIndex();
  await cluster.add(leader, "a 1");
  await cluster.add(leader, "a 1");
  await expect(leader.node.propose(new Uint8Array(17 << 20))).rejects.toMatchObject({ code: "tooManyBytes" });
  expect(heard).toMatchObject({ "answered applied": 2, "answered tooManyBytes": 1, committed: 2 });
  expect(heard.persisted).toBeGreaterThanOrEqual(3);
  expect(heard["applied 1"]).toBeGreaterThanOrEqual(2);
  const idle = { proposals: 0, entries: 0, forwarded: 0, writes: 0, batches: 0, outbound: [] };
  expect(leader.node.queues()).toEqual(idle);
});
