import { CounterState } from "../example/counter-state.ts";
import {
  foundedBy,
  type Log,
  type MemberId,
  MemoryLog,
  MemoryNetwork,
  membershipOf,
  RaftNode,
  type RaftNodeOptions,
  type SnapshotMeta,
  toMemberId,
} from "../index.ts";
import { random } from "./seed.ts";
import { until } from "./until.ts";

/** Timeouts for members in one process. */
export const quickTiming = { heartbeatMs: 20, electionMs: 100, proposalMs: 3000, readMs: 2000 };
/** Longer than a test may take. */
export const neverMs = 600_000;
const bytes = (text: string) => new TextEncoder().encode(text);

export interface Member {
  node: RaftNode<number>;
  state: CounterState;
  log: Log;
  failures: Error[];
}

const opened: Cluster[] = [];

/** Stops all clusters. Used in `afterEach`. */
export async function stopClusters(): Promise<void> {
  for (const cluster of opened.splice(0)) await cluster.stop();
}

/** Members in this process, on a network in memory, each with a `CounterState`. */
export class Cluster {
  readonly network = new MemoryNetwork({ random });
  readonly members = new Map<MemberId, Member>();
  readonly base: SnapshotMeta;
  readonly #extra: Partial<RaftNodeOptions<number>>;

  constructor(voters: readonly number[], extra: Partial<RaftNodeOptions<number>> = {}) {
    this.base = foundedBy(membershipOf(voters.map(toMemberId)));
    this.#extra = extra;
    opened.push(this);
  }

  static async of(count: number, extra: Partial<RaftNodeOptions<number>> = {}): Promise<Cluster> {
    const ids = Array.from({ length: count }, (_, position) => position + 1);
    const cluster = new Cluster(ids, extra);
    for (const id of ids) await cluster.start(id, MemoryLog.create(cluster.base));
    return cluster;
  }

  /** Returns a cluster led by member 1, in which no timeout starts an election: a slow machine cannot change its leader. */
  static async led(count: number, extra: Partial<RaftNodeOptions<number>> = {}): Promise<Cluster> {
    const cluster = await Cluster.of(count, { timing: { ...quickTiming, electionMs: neverMs }, ...extra });
    cluster.member(1).node.campaign();
    await cluster.leader();
    return cluster;
  }

  async start(id: number, log: Log, state = new CounterState(), extra: Partial<RaftNodeOptions<number>> = {}) {
    const failures: Error[] = [];
    const node = await RaftNode.start<number>({
      id: toMemberId(id),
      log,
      transport: this.network.join(toMemberId(id)),
      stateMachine: state,
      timing: quickTiming,
      ...this.#extra,
      ...extra,
      events: { failed: (error) => failures.push(error), ...this.#extra.events, ...extra.events },
    });
    const member = { node, state, log, failures };
    this.members.set(toMemberId(id), member);
    return member;
  }

  member(id: number): Member {
    const member = this.members.get(toMemberId(id));
    if (member === undefined) throw new Error(`no member ${id}`);
    return member;
  }

  async leader(among = [...this.members.values()]): Promise<Member> {
    const leads = ({ node }: Member) => node.status().role === "leader";
    await until(() => among.some(leads), "a leader");
    return among.filter(leads).sort((a, b) => b.node.status().term - a.node.status().term)[0] as Member;
  }

  /**
   * Proposes until the proposal is accepted. This is correct only because a proposal with an unknown outcome is not
   * repeated.
   */
  async add(member: Member, text: string): Promise<number> {
    for (;;) {
      try {
        return (await member.node.propose(bytes(text))).result;
      } catch (error) {
        const code = (error as { code: string }).code;
        if (code !== "noLeader" && code !== "dropped") throw error;
        await Bun.sleep(10);
      }
    }
  }

  async stop(): Promise<void> {
    await Promise.all([...this.members.values()].map(({ node }) => node.stop()));
  }
}
