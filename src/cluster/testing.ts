import {
  type Cluster,
  ClusterError,
  type ClusterImage,
  type MemberNumber,
  type MemberRecord,
  type MemberRole,
  type ReplicaStatus,
} from "../storage/cluster.ts";

/** A cluster in memory from the view of one replica, for tests. */
export class FakeCluster implements Cluster {
  readonly clusterId = "cluster-of-tests";
  self: MemberNumber = 1;
  leader: MemberNumber | undefined = 1;
  /** Error thrown by the next change. */
  nextError: ClusterError | undefined;
  readonly caughtUp = new Set<MemberNumber>();
  readonly imageBytes = [new Uint8Array(300_000).fill(1), new Uint8Array(300_000).fill(2)];
  imagesOpen = 0;
  readonly #members = new Map<MemberNumber, MemberRecord & { role: MemberRole }>();
  #nextId = 1;

  constructor(...names: readonly string[]) {
    for (const name of names.length === 0 ? ["a"] : names) {
      const id = this.#nextId++;
      const record = { id, name, peerAddress: `127.0.0.1:${7000 + id}`, clientUrl: `https://127.0.0.1:${6000 + id}` };
      this.#members.set(id, { ...record, role: "voter" });
    }
  }

  get isLeader(): boolean {
    return this.leader === this.self;
  }

  status(): ReplicaStatus {
    const members = [...this.#members.values()].map((member) => ({
      ...member,
      role: member.id === this.leader ? ("leader" as const) : member.role,
      matchIndex: this.isLeader ? 9 : undefined,
      isActive: this.isLeader ? true : undefined,
    }));
    return {
      clusterId: this.clusterId,
      self: this.self,
      role: members.find(({ id }) => id === this.self)?.role ?? "removed",
      leader: this.leader,
      term: 3,
      lastIndex: 10,
      commitIndex: 10,
      appliedIndex: 9,
      flushedIndex: 8,
      revision: 7,
      compactedRevision: 1,
      objects: 5,
      logBytes: 4096,
      stateHash: "00ff",
      members,
      failure: undefined,
    };
  }

  members(): readonly MemberRecord[] {
    return [...this.#members.values()].map(({ id, name, peerAddress, clientUrl }) => ({
      id,
      name,
      peerAddress,
      clientUrl,
    }));
  }

  confirmLeader(): Promise<boolean> {
    return Promise.resolve(this.isLeader);
  }

  async addLearner(member: Omit<MemberRecord, "id">): Promise<MemberRecord> {
    this.#check();
    for (const known of this.#members.values()) {
      if (known.name !== member.name && known.peerAddress !== member.peerAddress) continue;
      throw new ClusterError("conflict", `member ${known.id} already has this name or address`);
    }
    const record = { id: this.#nextId++, ...member };
    this.#members.set(record.id, { ...record, role: "learner" });
    return record;
  }

  async promote(id: MemberNumber): Promise<void> {
    this.#check();
    const member = this.#find(id);
    if (!this.caughtUp.has(id)) throw new ClusterError("notCaughtUp", `member ${id} has not caught up`);
    this.#members.set(id, { ...member, role: "voter" });
  }

  async remove(id: MemberNumber): Promise<void> {
    this.#check();
    this.#find(id);
    if (this.#members.size === 1) throw new ClusterError("quorumAtRisk", "the last member cannot be removed");
    this.#members.delete(id);
  }

  async transferLeadership(to: MemberNumber): Promise<void> {
    this.#check();
    this.#find(to);
    this.leader = to;
  }

  async updateMember(member: MemberRecord): Promise<void> {
    this.#check();
    this.#members.set(member.id, { ...this.#find(member.id), ...member });
  }

  async image(): Promise<ClusterImage> {
    this.imagesOpen++;
    const chunks = this.imageBytes;
    return {
      revision: 7,
      chunks: (async function* () {
        yield* chunks;
      })(),
      [Symbol.dispose]: () => {
        this.imagesOpen--;
      },
    };
  }

  #check(): void {
    const error = this.nextError;
    this.nextError = undefined;
    if (error !== undefined) throw error;
    if (!this.isLeader) throw new ClusterError("notLeader", "another member leads", this.leader);
  }

  #find(id: MemberNumber): MemberRecord & { role: MemberRole } {
    const member = this.#members.get(id);
    if (member === undefined) throw new ClusterError("unknownMember", `there is no member ${id}`);
    return member;
  }
}
