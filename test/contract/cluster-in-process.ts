import { join } from "node:path";
import { MemoryNetwork, toMemberId } from "../../raft/index.ts";
import type { ClusterError, MemberRecord } from "../../src/storage/cluster.ts";
import { type OpenReplica, openReplica, type ReplicaOptions } from "../../src/storage/replicated/open-replica.ts";
import { prepareMember } from "../../src/storage/replicated/prepare-replica.ts";

const pollMs = 10;

/** Replicas in one process, each with its own directory, on a network in memory. */
export class ClusterInProcess implements AsyncDisposable {
  readonly network: MemoryNetwork;
  readonly #root: string;
  readonly #options: Partial<ReplicaOptions>;
  readonly #replicas = new Map<number, OpenReplica>();
  #newest = 1;

  private constructor(root: string, options: Partial<ReplicaOptions>) {
    this.#root = root;
    this.#options = options;
    this.network = new MemoryNetwork({ random: Math.random });
  }

  /** Starts the replicas. All of them vote. */
  static async start(root: string, size: number, options: Partial<ReplicaOptions> = {}): Promise<ClusterInProcess> {
    const cluster = new ClusterInProcess(root, options);
    const founder = await cluster.open(1);
    await founder.store.readBarrier();
    await founder.cluster.updateMember(recordOf(1));
    for (let id = 2; id <= size; id++) await cluster.join({ promote: true });
    return cluster;
  }

  get replicas(): readonly OpenReplica[] {
    return [...this.#replicas.values()];
  }

  replica(id: number): OpenReplica {
    const replica = this.#replicas.get(id);
    if (replica === undefined) throw new Error(`replica ${id} is not open`);
    return replica;
  }

  /** Waits for a replica that leads and knows it. */
  async leader(): Promise<OpenReplica> {
    return eventually(async () => {
      for (const replica of this.replicas) if (await replica.cluster.confirmLeader()) return replica;
      return undefined;
    });
  }

  follower(): OpenReplica {
    const follower = this.replicas.find(({ cluster }) => !cluster.isLeader);
    if (follower === undefined) throw new Error("there is no follower");
    return follower;
  }

  async join({ promote }: { promote: boolean }): Promise<OpenReplica> {
    const { id: _, ...record } = recordOf(++this.#newest);
    const { cluster, id } = await eventually(() => this.#addLearner(record));
    await prepareMember(this.directory(id), { clusterId: cluster.clusterId, id, seeds: cluster.members() });
    const replica = await this.open(id);
    await replica.store.readBarrier();
    if (promote)
      await eventually(() =>
        cluster.promote(id).then(
          () => true,
          () => undefined,
        ),
      );
    return replica;
  }

  /** Undefined if the leader had stepped down. */
  async #addLearner(record: Omit<MemberRecord, "id">) {
    const { cluster } = await this.leader();
    return cluster.addLearner(record).then(
      ({ id }) => ({ cluster, id }),
      (error: ClusterError) =>
        error.code === "notLeader" || error.code === "busy" ? undefined : Promise.reject(error),
    );
  }

  async open(id: number): Promise<OpenReplica> {
    const replica = await openReplica({
      directory: this.directory(id),
      connect: async (self) => this.network.join(toMemberId(id), (member) => self.mayHaveJoined(member)),
      ...this.#options,
    });
    this.#replicas.set(id, replica);
    return replica;
  }

  async close(id: number): Promise<void> {
    await this.replica(id).store.close();
    this.#replicas.delete(id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.replicas.map(({ store }) => store.close()));
  }

  directory(id: number): string {
    return join(this.#root, `member-${id}`);
  }
}

function recordOf(id: number): MemberRecord {
  return { id, name: `m${id}`, peerAddress: `127.0.0.1:${7000 + id}`, clientUrl: `https://127.0.0.1:${6000 + id}` };
}

/** Repeats the request until there is an answer. The test's time limit ends it otherwise. */
export async function eventually<T>(ask: () => Promise<T | undefined> | T | undefined): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await Bun.sleep(pollMs);
  }
}
