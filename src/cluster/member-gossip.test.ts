import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../raft/testing/free-ports.ts";
import { type Clock, systemClock } from "../process/clock.ts";
import { openLog } from "../process/logs.ts";
import { StartupError } from "../process/startup-error.ts";
import { resolveOptions, type ServerOptions } from "../server/config/server-options.ts";
import type { MemberRecord } from "../storage/cluster.ts";
import { isPeerId } from "./gossip/peer-id.ts";
import { type MemberGossip, openMemberGossip } from "./member-gossip.ts";
import { FakeCluster } from "./testing.ts";

const scratch = await mkdtemp(join(tmpdir(), "quorate-member-gossip-"));
afterAll(() => rm(scratch, { recursive: true }));
const opened: MemberGossip[] = [];
afterEach(async () => {
  for (const { gossip } of opened.splice(0)) await gossip.close();
});

let directories = 0;

interface Parts {
  readonly cluster?: FakeCluster;
  readonly clock?: Clock;
}

async function open(options: ServerOptions, { cluster = new FakeCluster("a"), clock = systemClock }: Parts = {}) {
  const warnings: string[] = [];
  const leaderListeners: (() => void)[] = [];
  const directory = join(scratch, String(++directories));
  const { membership } = resolveOptions({ ...options, dataDir: directory });
  const log = openLog({ pretty: false, destination: { write: (line) => void warnings.push(line) } });
  const gossip = await openMemberGossip({
    member: {
      cluster,
      directory,
      peerAddress: membership.peerAddress,
      onLeaderChanged: (listener) => void leaderListeners.push(listener),
    },
    membership,
    clock,
    log,
    failing: async () => [],
    release: "1",
    onDropped() {},
  });
  opened.push(gossip);
  const leaderChanged = () => leaderListeners.forEach((listener) => listener());
  return { ...gossip, directory, warnings, leaderChanged };
}

/** Returns a port whose neighbour a thousand above is taken. */
async function takenPort(): Promise<{ taken: Server; port: number }> {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  return { taken, port: (taken.address() as { port: number }).port };
}

describe("gossip of a member", () => {
  test.each<[string, ServerOptions]>([
    ["that is alone", {}],
    ["that was told so", { peerAddress: "127.0.0.1:7380", gossip: false }],
  ])("%s is off and leaves no key", async (_, options) => {
    const { gossip, contact, directory } = await open(options);
    expect({ contact, peers: gossip.peers().size }).toEqual({ contact: undefined, peers: 0 });
    expect(existsSync(join(directory, "pki", "gossip.key"))).toBe(false);
  });

  test("tells others its peer id and its address", async () => {
    const port = await freePort();
    const { contact, directory } = await open({ peerAddress: "127.0.0.1:7380", gossipAddress: `127.0.0.1:${port}` });
    expect(contact?.gossipAddress).toBe(`127.0.0.1:${port}`);
    expect(isPeerId(contact?.peerId ?? "")).toBe(true);
    expect(existsSync(join(directory, "pki", "gossip.key"))).toBe(true);
  });

  test("announces a new leader to the others at once", async () => {
    const at = async () => ({ peerAddress: "127.0.0.1:7380", gossipAddress: `127.0.0.1:${await freePort()}` });
    const clusters = [new FakeCluster("a", "b"), new FakeCluster("a", "b")] as const;
    const records: MemberRecord[] = [...clusters[0].members()];
    clusters.forEach((cluster, place) => {
      cluster.self = place + 1;
      cluster.members = () => records;
    });
    const one = await open(await at(), { cluster: clusters[0] });
    Object.assign(records[0] as MemberRecord, one.contact);
    // Without heartbeats, every message received was an announcement.
    const clock: Clock = { ...systemClock, every: () => new DisposableStack() };
    const other = await open(await at(), { cluster: clusters[1], clock });
    Object.assign(records[1] as MemberRecord, other.contact);
    clusters[1].leader = 2;
    for (const endMs = performance.now() + 10_000; performance.now() < endMs; await Bun.sleep(20)) {
      if (one.gossip.peers().get(2)?.leader === 2) break;
      other.leaderChanged();
    }
    expect(one.gossip.peers().get(2)).toMatchObject({ leader: 2, term: 3 });
  });

  test("is off, with a warning, when its default port is taken", async () => {
    const { taken, port } = await takenPort();
    const { contact, warnings } = await open({ peerAddress: `127.0.0.1:${port - 1_000}` });
    taken.close();
    expect(contact).toBeUndefined();
    expect(warnings.join("")).toContain("gossip is off: give another --gossip-address");
  });

  test("stops the server's start when its configured port is taken", async () => {
    const { taken, port } = await takenPort();
    const opening = open({ peerAddress: "127.0.0.1:7380", gossipAddress: `127.0.0.1:${port}` });
    expect(await opening.catch((error: unknown) => error)).toBeInstanceOf(StartupError);
    taken.close();
  });
});
