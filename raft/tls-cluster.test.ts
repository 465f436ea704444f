import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeCertificates, readCertificates } from "./example/certificates.ts";
import {
  type Address,
  createLog,
  type Entry,
  foundedBy,
  type Index,
  membershipOf,
  noMembership,
  openLog,
  RaftNode,
  type StateImage,
  type StateMachine,
  TlsTransport,
  toMemberId,
} from "./index.ts";
import { until } from "./testing/until.ts";

const scratch = mkdtempSync(join(tmpdir(), "raft-cluster-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
makeCertificates(scratch, [1, 2, 3, 4]);

const imageBytes = 24 << 20;
/** The election timeout is longer than a slow machine stalls, and shorter than the snapshot takes. */
const timing = { heartbeatMs: 40, electionMs: 1000, proposalMs: 5000, readMs: 5000 };

/** A state with a large image, generated from its count. */
class LargeState implements StateMachine<number> {
  count = 0;
  restored = 0;
  #applied = 0;

  durableIndex(): Index {
    return 0 as Index;
  }

  apply(entries: readonly Entry[]): number[] {
    return entries.map(({ index, kind }) => {
      this.#applied = index;
      return kind === "normal" ? ++this.count : this.count;
    });
  }

  checkpoint(): Index {
    return this.#applied as Index;
  }

  snapshot(): StateImage {
    const { count } = this;
    async function* chunks() {
      yield Buffer.from(String(count).padEnd(64));
      for (let sent = 0; sent < imageBytes; sent += 1 << 20) yield Buffer.alloc(1 << 20, count % 256);
    }
    return { index: this.#applied as Index, chunks: chunks(), release: () => {} };
  }

  async restore(index: Index, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const parts: Buffer[] = [];
    for await (const chunk of chunks) parts.push(Buffer.from(chunk));
    const image = Buffer.concat(parts);
    this.count = Number(image.subarray(0, 64).toString());
    if (!image.subarray(64).equals(Buffer.alloc(imageBytes, this.count % 256))) throw new Error("not what was sent");
    this.#applied = index;
    this.restored++;
  }
}

type Addresses = Map<number, Address>;

async function start(id: number, membership: typeof noMembership, addresses: Addresses, logBytesMax = 20_000) {
  const owner = { clusterId: "test", memberId: toMemberId(id) };
  const directory = mkdtempSync(join(scratch, `member-${id}-`));
  await createLog(directory, owner, foundedBy(membership));
  const { log, starts } = await openLog(directory, owner);
  const transport = new TlsTransport({
    ...owner,
    starts,
    listen: { host: "127.0.0.1", port: 0 },
    addressOf: (member) => addresses.get(member),
    tls: () => readCertificates(scratch, id),
    mayHaveJoined: () => true,
    snapshotBytesPerSecond: 12 << 20,
  });
  const state = new LargeState();
  const seeds = [...addresses.keys()].map(toMemberId);
  const compaction = { logBytesMax, tailEntries: 10 };
  const node = await RaftNode.start({
    id: owner.memberId,
    log,
    transport,
    stateMachine: state,
    timing,
    seeds,
    ...compaction,
  });
  addresses.set(id, transport.address);
  return { id: owner.memberId, node, state };
}

const founders = membershipOf([1, 2, 3].map(toMemberId));

test("a member that joins over TLS gets a large snapshot, while proposals continue without an election", async () => {
  const addresses: Addresses = new Map();
  const members: Awaited<ReturnType<typeof start>>[] = [];
  for (const id of [1, 2, 3]) members.push(await start(id, founders, addresses));
  await until(() => members.some(({ node }) => node.status().role === "leader"), "a leader");
  const leader = members.find(({ node }) => node.status().role === "leader") ?? members[0]!;
  const add = () => leader.node.propose(Buffer.alloc(500));
  for (let round = 0; round < 200; round++) await add();
  await until(() => leader.node.status().baseIndex > 0, "compaction");

  const joining = await start(4, noMembership, addresses);
  const { term } = leader.node.status();
  const steps = [{ operation: "addLearner", member: joining.id }] as const;
  await leader.node.changeMembership({ steps, context: new Uint8Array() });
  let proposed = 200;
  const begun = performance.now();
  while (joining.state.restored === 0 && performance.now() - begun < 20_000) {
    await add();
    proposed++;
    await Bun.sleep(5);
  }
  expect(performance.now() - begun).toBeGreaterThan(1500);
  await until(() => joining.state.count === proposed, "the learner to catch up");
  await until(
    () => leader.node.status().progress.some(({ member, match }) => member === joining.id && match > proposed),
    "the leader to see it",
  );
  await leader.node.changeMembership({
    steps: [{ operation: "promote", member: joining.id }],
    context: new Uint8Array(),
  });
  expect(leader.node.status()).toMatchObject({ role: "leader", term });
  expect(joining.node.status().membership.voters).toContain(joining.id);
  await Promise.all([...members, joining].map(({ node }) => node.stop()));
}, 60_000);

test("a returning member is brought up to date by a leader that it has never heard of", async () => {
  const addresses: Addresses = new Map();
  const [two, three] = [await start(2, founders, addresses), await start(3, founders, addresses)];
  const leads = ({ node }: typeof two) => node.status().role === "leader";
  await until(() => [two, three].some(leads), "a leader");
  const leader = leads(two) ? two : three;
  const four = await start(4, noMembership, addresses);
  const change = (operation: "addLearner" | "promote") =>
    leader.node.changeMembership({ steps: [{ operation, member: four.id }], context: new Uint8Array() });
  await change("addLearner");
  await until(() => four.node.status().applied > 0, "the learner to catch up");
  await change("promote");
  leader.node.transferLeadership(four.id);
  await until(() => leads(four), "another leader");
  for (let round = 0; round < 100; round++) await four.node.propose(Buffer.alloc(500));

  const one = await start(1, founders, addresses);
  await until(() => one.state.count === 100, "what it has missed");
  expect(one.node.status()).toMatchObject({ role: "follower", leader: four.id });
  await until(() => one.node.status().membership.voters.includes(four.id), "the news of the leader");
  await Promise.all([one, two, three, four].map(({ node }) => node.stop()));
}, 60_000);

test("a joining member takes in a long log from a leader that only its last part names", async () => {
  const addresses: Addresses = new Map();
  const logBytesMax = 64 << 20;
  const one = await start(1, membershipOf([toMemberId(1)]), addresses, logBytesMax);
  await until(() => one.node.status().role === "leader", "a leader");
  type Member = typeof one;
  const change = (leader: Member, operation: "addLearner" | "promote", { id }: Member) =>
    leader.node.changeMembership({ steps: [{ operation, member: id }], context: new Uint8Array() });
  const join = async (leader: Member, id: number) => {
    const joining = await start(id, noMembership, addresses, logBytesMax);
    await change(leader, "addLearner", joining);
    await until(() => joining.state.count === leader.state.count, "the learner to catch up");
    return joining;
  };
  const two = await join(one, 2);
  await Promise.all(Array.from({ length: 500 }, () => one.node.propose(Buffer.alloc(1_000))));
  const three = await join(one, 3);
  await change(one, "promote", three);
  one.node.transferLeadership(three.id);
  await until(() => three.node.status().role === "leader", "another leader");
  await three.node.propose(Buffer.alloc(10));

  const four = await join(three, 4);
  expect(four.node.status()).toMatchObject({ leader: three.id, membership: { learners: [two.id, four.id] } });
  await Promise.all([one, two, three, four].map(({ node }) => node.stop()));
}, 60_000);
