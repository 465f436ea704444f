import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CounterState } from "./example/counter-state.ts";
import { type CrashPoint, crashPoints, foundedBy, MemoryNetwork, membershipOf, RaftNode, toMemberId } from "./index.ts";
import { createLogOn, openLogOn } from "./storage/open-log.ts";
import { SimulatedDisk } from "./storage/simulated-disk.ts";
import { random, seed } from "./testing/seed.ts";
import { until } from "./testing/until.ts";

const scratch = mkdtempSync(join(tmpdir(), "raft-crash-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const timing = { heartbeatMs: 20, electionMs: 120, proposalMs: 1500, readMs: 1500 };
const ids = [1, 2, 3].map(toMemberId);
const founders = foundedBy(membershipOf(ids));
let clusters = 0;

interface Member {
  readonly id: (typeof ids)[number];
  node: RaftNode<number>;
  state: CounterState;
  /** Disk contents that survived. */
  crashed: Promise<SimulatedDisk>;
}

/**
 * At the crash point, the disk keeps only data that survives a power cut. The node stops there: it sends no more
 * messages, and its disk does not answer.
 */
class Cluster {
  readonly members: Member[] = [];
  readonly network = new MemoryNetwork({ random });
  readonly #name = String(clusters++);
  acknowledged = 0;
  unknown = 0;

  async start(id: Member["id"], disk: SimulatedDisk, crash: CrashPoint | undefined, count = 1): Promise<Member> {
    let left = count;
    let armed: RaftNode<number> | undefined;
    const { promise: crashed, resolve } = Promise.withResolvers<SimulatedDisk>();
    const reach = (point: CrashPoint) => {
      if (armed === undefined || point !== crash || --left !== 0) return;
      resolve(disk.afterPowerCut());
      void armed.stop();
      throw new Error(`crash at ${point}`);
    };
    const { log } = await openLogOn(disk, { clusterId: "test", memberId: id }, { segmentBytes: 1 << 20, reach });
    const state = new CounterState(join(scratch, `${this.#name}-${id}`));
    const node = await RaftNode.start<number>({
      id,
      log,
      transport: this.network.join(id),
      stateMachine: state,
      timing,
      logBytesMax: 100_000,
      tailEntries: 5,
      reach,
    });
    armed = node;
    const member = { id, node, state, crashed };
    this.members[id - 1] = member;
    return member;
  }

  async write(): Promise<void> {
    const member = this.members[Math.floor(random() * ids.length)] as Member;
    try {
      await member.node.propose(new TextEncoder().encode("a 1".padEnd(6000)));
      this.acknowledged++;
    } catch (error) {
      const { code } = error as { code: string };
      if (code === "unknown" || code === "stopped") this.unknown++;
      await Bun.sleep(5);
    }
  }

  async writeUntil(isOver: () => boolean, msMax: number): Promise<void> {
    const deadline = performance.now() + msMax;
    const writer = async () => {
      while (!isOver() && performance.now() < deadline) await this.write();
    };
    await Promise.all(Array.from({ length: 8 }, writer));
  }
}

/** Reports whether a crash point is seldom reached. */
const isRare = (point: CrashPoint) => /^(compaction|snapshot|segment)/.test(point);

test.each(crashPoints.flatMap((point) => (isRare(point) ? [1] : [1, 5]).map((count) => [point, count] as const)))(
  `a power cut at %s, the time number %i, loses nothing and stops no other member (SEED=${seed})`,
  async (point, count) => {
    const cluster = new Cluster();
    for (const id of ids) {
      const disk = new SimulatedDisk({ random });
      await createLogOn(disk, { clusterId: "test", memberId: id }, founders);
      await cluster.start(id, disk, id === 1 ? point : undefined, isRare(point) ? 1 : count);
    }
    const victim = cluster.members[0] as Member;
    let isCrashed = false;
    void victim.crashed.then(() => {
      isCrashed = true;
    });
    // The member is cut off for a while, so that it needs a snapshot afterwards.
    await cluster.writeUntil(() => isCrashed, 200);
    cluster.network.isolate(victim.id);
    // The next leader must no longer have the entries that the victim lacks.
    const { lastIndex } = victim.node.status();
    const others = cluster.members.slice(1);
    await cluster.writeUntil(() => others.every(({ node }) => node.status().baseIndex > lastIndex), 20_000);
    cluster.network.heal();
    await cluster.writeUntil(() => isCrashed, 20_000);
    expect(isCrashed).toBe(true);

    const again = await cluster.start(victim.id, await victim.crashed, undefined);
    const before = cluster.acknowledged;
    await cluster.writeUntil(() => cluster.acknowledged >= before + 20, 20_000);
    expect(cluster.acknowledged).toBeGreaterThanOrEqual(before + 20);
    const sums = () => cluster.members.map(({ state }) => state.sums.get("a") ?? 0);
    await until(() => new Set(sums()).size === 1, "equal states");
    expect(again.state.sums.get("a")).toBeGreaterThanOrEqual(cluster.acknowledged);
    expect(again.state.sums.get("a")).toBeLessThanOrEqual(cluster.acknowledged + cluster.unknown);
    await Promise.all(cluster.members.map(({ node }) => node.stop()));
  },
  60_000,
);
