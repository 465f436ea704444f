import { afterEach, describe, expect, test } from "bun:test";
import type { Clock } from "../../process/clock.ts";
import type { Gossip, GossipMember, ReplicaHealth } from "./gossip.ts";
import { type GossipIdentity, openGossipIdentity } from "./gossip-identity.ts";
import { encodeHeartbeat, encodeInvalidation, messageBytesMax } from "./message.ts";
import type { Contact, DropReason, GossipNetwork, NetworkOptions, Topic } from "./network.ts";
import { openGossip } from "./open-gossip.ts";
import type { PeerId } from "./peer-id.ts";

/** A clock that moves only when a test moves it, timers included. */
class SteppedClock implements Clock {
  #nowMs = 1_000_000;
  readonly #timers = new Set<{ atMs: number; everyMs: number | undefined; run: () => void }>();

  nowMs(): number {
    return this.#nowMs;
  }
  steadyMs(): number {
    return this.#nowMs;
  }
  after(delayMs: number, run: () => void): Disposable {
    return this.#add({ atMs: this.#nowMs + delayMs, everyMs: undefined, run });
  }
  every(intervalMs: number, run: () => void): Disposable {
    return this.#add({ atMs: this.#nowMs + intervalMs, everyMs: intervalMs, run });
  }
  get timers(): number {
    return this.#timers.size;
  }
  async pass(ms: number): Promise<void> {
    await Bun.sleep(0);
    const endMs = this.#nowMs + ms;
    for (;;) {
      const [next] = [...this.#timers].sort((a, b) => a.atMs - b.atMs);
      if (next === undefined || next.atMs > endMs) break;
      this.#nowMs = next.atMs;
      if (next.everyMs === undefined) this.#timers.delete(next);
      else next.atMs += next.everyMs;
      next.run();
      await Bun.sleep(0);
    }
    this.#nowMs = endMs;
  }
  #add(timer: { atMs: number; everyMs: number | undefined; run: () => void }): Disposable {
    this.#timers.add(timer);
    return { [Symbol.dispose]: () => void this.#timers.delete(timer) };
  }
}

/** Delivers every message at once to all open networks that have admitted its author. */
class Hub {
  /** Number of messages so far. */
  said = 0;
  readonly #ends = new Map<PeerId, { readonly options: NetworkOptions; contacts: readonly Contact[] }>();

  readonly open = async (options: NetworkOptions): Promise<GossipNetwork> => {
    const { peerId } = options.identity;
    const end = { options, contacts: [] as readonly Contact[] };
    this.#ends.set(peerId, end);
    return {
      address: options.listen,
      admit: (contacts) => void (end.contacts = contacts),
      publish: (topic, message) => this.say(peerId, topic, message),
      close: async () => void this.#ends.delete(peerId),
    };
  };

  say(author: PeerId, topic: Topic, message: Uint8Array): void {
    this.said++;
    for (const [peerId, { options, contacts }] of this.#ends) {
      if (peerId === author || !contacts.some((contact) => contact.peerId === author)) continue;
      const reason = options.onMessage(topic, author, message);
      if (reason !== undefined) options.onDropped(reason);
    }
  }

  contactsOf(peerId: PeerId): readonly Contact[] {
    return this.#ends.get(peerId)?.contacts ?? [];
  }
}

const healthy: ReplicaHealth = {
  revision: 10,
  appliedIndex: 10,
  ready: true,
  failing: [],
  term: 1,
  leader: 1,
  endpoints: ["https://10.0.0.1:6443"],
  release: "0.1.0",
};

interface Replica {
  readonly id: number;
  readonly identity: GossipIdentity;
  readonly gossip: Gossip;
  readonly dropped: DropReason[];
  health: ReplicaHealth;
}

/** A cluster on one hub and one clock. */
class TestCluster {
  readonly clock = new SteppedClock();
  readonly hub = new Hub();
  readonly replicas: Replica[] = [];
  readonly errors: unknown[] = [];
  members: Partial<GossipMember>[] = [];

  static async of(count: number): Promise<TestCluster> {
    const cluster = new TestCluster();
    for (let id = 1; id <= count; id++) await cluster.add(id);
    await cluster.clock.pass(1_000);
    return cluster;
  }

  async add(id: number, kept?: GossipIdentity): Promise<Replica> {
    const identity = kept ?? (await openGossipIdentity(undefined, this.clock.nowMs()));
    this.members = this.members.filter((member) => member.id !== id);
    this.members.push({ id, peerId: identity.peerId, gossipAddress: `10.0.0.${id}:7381` });
    const dropped: DropReason[] = [];
    const gossip = await openGossip({
      clusterId: "c",
      self: id,
      identity,
      listen: { host: "10.0.0.1", port: 7381 },
      members: () => this.members,
      health: () => this.replicas.find((replica) => replica.dropped === dropped)?.health ?? healthy,
      clock: this.clock,
      onError: (error) => this.errors.push(error),
      onDropped: (reason) => dropped.push(reason),
      openNetwork: this.hub.open,
    });
    const replica: Replica = { id, identity, gossip, dropped, health: healthy };
    this.replicas.push(replica);
    return replica;
  }

  replica(id: number): Replica {
    return this.replicas.findLast((replica) => replica.id === id) as Replica;
  }

  /** Sends a message in the name of a member that its own gossip would not send. */
  say(author: Replica, fields: object, topic: Topic = "heartbeat"): void {
    const envelope = { member: author.id, incarnation: author.identity.incarnation, sequence: 1_000 };
    const message = { ...envelope, health: healthy, subject: "issuerKeys", ...fields } as never;
    this.hub.say(
      author.identity.peerId,
      topic,
      topic === "heartbeat" ? encodeHeartbeat(message) : encodeInvalidation(message),
    );
  }
}

let cluster: TestCluster | undefined;
afterEach(async () => {
  await Promise.all((cluster?.replicas ?? []).map(({ gossip }) => gossip.close()));
  expect(cluster?.clock.timers).toBe(0);
  expect(cluster?.errors.splice(0) ?? []).toEqual([]);
});

describe("reports from the others", () => {
  test("every replica knows the health of all others after a heartbeat", async () => {
    cluster = await TestCluster.of(3);
    cluster.replica(2).health = { ...healthy, revision: 99, ready: false, failing: ["etcd"] };
    await cluster.clock.pass(1_000);
    const peers = cluster.replica(1).gossip.peers();
    expect([...peers.keys()]).toEqual([2, 3]);
    expect(peers.get(2)).toMatchObject({ revision: 99, ready: false, failing: ["etcd"], isStale: false });
  });

  test("an announced change arrives without waiting for the heartbeat", async () => {
    cluster = await TestCluster.of(2);
    await cluster.clock.pass(500);
    const [one, other] = [cluster.replica(1), cluster.replica(2)];
    other.health = { ...healthy, ready: false };
    other.gossip.announce();
    await cluster.clock.pass(0);
    expect(one.gossip.peers().get(2)?.ready).toBe(false);
  });

  test("a thousand announcements at once are two messages, and the last state arrives", async () => {
    cluster = await TestCluster.of(2);
    await cluster.clock.pass(500);
    const { gossip } = cluster.replica(2);
    const said = cluster.hub.said;
    for (let term = 1; term <= 1_000; term++) {
      cluster.replica(2).health = { ...healthy, term };
      gossip.announce();
    }
    await cluster.clock.pass(200);
    expect(cluster.replica(1).gossip.peers().get(2)?.term).toBe(1_000);
    expect(cluster.hub.said - said).toBeLessThanOrEqual(2);
  });

  test("a silent member is stale, and its age is reported while it is a member", async () => {
    cluster = await TestCluster.of(2);
    const { gossip } = cluster.replica(1);
    await cluster.replica(2).gossip.close();
    await cluster.clock.pass(4_000);
    expect(gossip.peers().get(2)).toMatchObject({ isStale: false, ageMs: 4_000 });
    await cluster.clock.pass(3_000);
    expect(gossip.peers().get(2)).toMatchObject({ isStale: true });
    await cluster.clock.pass(3_600_000);
    expect(gossip.peers().get(2)).toMatchObject({ isStale: true, ageMs: 3_607_000 });
  });

  test("a restarted replica is heard at once, although its sequence begins again", async () => {
    cluster = await TestCluster.of(2);
    await cluster.clock.pass(20_000);
    const { identity, gossip } = cluster.replica(2);
    await gossip.close();
    const incarnation = identity.incarnation + 1;
    const back = await cluster.add(2, { ...identity, incarnation });
    back.health = { ...healthy, revision: 500 };
    await cluster.clock.pass(1_000);
    expect(cluster.replica(1).gossip.peers().get(2)?.revision).toBe(500);
    expect(cluster.replica(1).dropped).toEqual([]);
  });

  test("an error of a listener is logged, and the others are called", async () => {
    cluster = await TestCluster.of(2);
    const heard: string[] = [];
    cluster.replica(1).gossip.onInvalidate(() => {
      throw new Error("mine");
    });
    cluster.replica(1).gossip.onInvalidate((subject) => heard.push(subject));
    cluster.replica(2).gossip.invalidate("issuerKeys");
    expect(heard).toEqual(["issuerKeys"]);
    expect(cluster.errors.splice(0)).toEqual([new Error("mine")]);
  });
});

describe("the membership", () => {
  test("decides which peers are admitted, and members without an address or a valid id are skipped", async () => {
    cluster = await TestCluster.of(2);
    const [one, two] = [cluster.replica(1), cluster.replica(2)];
    cluster.members.push({ id: 3 }, { id: 4, peerId: "nobody", gossipAddress: "10.0.0.4:1" });
    cluster.members.push({ id: 5, peerId: (await openGossipIdentity(undefined, 0)).peerId, gossipAddress: "nowhere" });
    await cluster.clock.pass(1_000);
    const contacts = cluster.hub.contactsOf(one.identity.peerId);
    expect(contacts).toMatchObject([{ peerId: two.identity.peerId, address: { host: "10.0.0.2", port: 7381 } }]);
  });

  test("drops removed members with the next heartbeat", async () => {
    cluster = await TestCluster.of(3);
    const { gossip } = cluster.replica(1);
    cluster.members = cluster.members.filter(({ id }) => id !== 3);
    await cluster.clock.pass(1_000);
    expect([...gossip.peers().keys()]).toEqual([2]);
    cluster.say(cluster.replica(3), {});
    expect([...gossip.peers().keys()]).toEqual([2]);
  });

  test("leaves everything unchanged while it cannot be read", async () => {
    cluster = await TestCluster.of(2);
    const { members } = cluster;
    Object.defineProperty(cluster, "members", {
      get: () => {
        throw new Error("the store is closed");
      },
    });
    await cluster.clock.pass(1_000);
    expect([...cluster.replica(1).gossip.peers().keys()]).toEqual([2]);
    expect(cluster.errors.splice(0).length).toBeGreaterThan(0);
    Object.defineProperty(cluster, "members", { value: members });
  });
});

describe("attack 69: attacks by a member", () => {
  test.each([
    ["in the name of another", { member: 3 }, "forged"],
    ["in the name of the one that hears it", { member: 1 }, "forged"],
    ["heard before", { sequence: 1 }, "replayed"],
    ["of an earlier life", { incarnation: 1, sequence: 9_999 }, "replayed"],
    ["that is no heartbeat", { health: { ...healthy, revision: -1 } }, "malformed"],
    ["larger than any", { sequence: "9".repeat(messageBytesMax) }, "malformed"],
  ] as const)("a heartbeat %s is dropped", async (_, fields, reason) => {
    cluster = await TestCluster.of(3);
    const before = cluster.replica(1).gossip.peers();
    cluster.say(cluster.replica(2), fields);
    expect(cluster.replica(1).dropped).toEqual([reason]);
    expect(cluster.replica(1).gossip.peers()).toEqual(before);
  });

  test("a flood is cut after a hundred messages, and the author is heard again later", async () => {
    cluster = await TestCluster.of(2);
    const { dropped, gossip } = cluster.replica(1);
    for (let sequence = 1_000; sequence < 2_000; sequence++) cluster.say(cluster.replica(2), { sequence });
    expect(dropped.length).toBeGreaterThanOrEqual(890);
    expect(new Set(dropped)).toEqual(new Set<DropReason>(["flood"]));
    await cluster.clock.pass(2_000);
    cluster.say(cluster.replica(2), { sequence: 5_000, health: { ...healthy, revision: 77 } });
    expect(gossip.peers().get(2)?.revision).toBe(77);
  });

  test("false reports of a member only affect itself", async () => {
    cluster = await TestCluster.of(3);
    cluster.say(cluster.replica(2), {
      health: { ...healthy, revision: Number.MAX_SAFE_INTEGER, leader: 2, term: 2 ** 52 },
    });
    expect(cluster.replica(1).gossip.peers().get(3)).toMatchObject({ revision: 10, term: 1 });
  });
});

describe("invalidations", () => {
  test("reach the others, limited in rate, until the listener is removed", async () => {
    cluster = await TestCluster.of(3);
    const heard: string[] = [];
    const listening = cluster.replica(1).gossip.onInvalidate((subject) => heard.push(subject));
    for (let count = 0; count < 100; count++) {
      cluster.replica(2).gossip.invalidate("issuerKeys");
      cluster.replica(3).gossip.invalidate("issuerKeys");
    }
    expect(heard).toEqual(["issuerKeys"]);
    await cluster.clock.pass(900);
    expect(heard).toHaveLength(1);
    await cluster.clock.pass(2_200);
    expect([2, 3]).toContain(heard.length);
    listening[Symbol.dispose]();
    heard.length = 0;
    cluster.replica(2).gossip.invalidate("issuerKeys");
    await cluster.clock.pass(2_000);
    expect(heard).toEqual([]);
  });

  test("are dropped when they are old or forged", async () => {
    cluster = await TestCluster.of(3);
    const heard: string[] = [];
    cluster.replica(1).gossip.onInvalidate((subject) => heard.push(subject));
    cluster.say(cluster.replica(2), { sequence: 50 }, "invalidation");
    cluster.say(cluster.replica(2), { sequence: 50 }, "invalidation");
    cluster.say(cluster.replica(2), { sequence: 51, member: 3 }, "invalidation");
    await cluster.clock.pass(5_000);
    expect(heard).toEqual(["issuerKeys"]);
    expect(cluster.replica(1).dropped).toEqual(["replayed", "forged"]);
  });
});

test("after closing, no messages are sent or received", async () => {
  cluster = await TestCluster.of(2);
  const [one, two] = [cluster.replica(1), cluster.replica(2)];
  await two.gossip.close();
  await two.gossip.close();
  two.gossip.announce();
  two.gossip.invalidate("issuerKeys");
  await cluster.clock.pass(10_000);
  expect(one.gossip.peers().get(2)?.isStale).toBe(true);
});
