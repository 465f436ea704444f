import {
  isLearner,
  isVoter,
  type MemberId,
  RaftError,
  type RaftNode,
  type Status,
  toMemberId,
} from "../../../raft/index.ts";
import {
  aloneError,
  type Cluster,
  ClusterError,
  type ClusterErrorCode,
  type ClusterImage,
  type MemberNumber,
  type MemberRecord,
  type MemberStatus,
  type ReplicaStatus,
} from "../cluster.ts";
import { type Store, StoreUnavailableError } from "../store.ts";
import type { LeaderWatch } from "./leader-watch.ts";
import type { Proposer } from "./proposer.ts";
import type { ReplicaState } from "./replica-state.ts";

/** Maximum time to elect or confirm a leader. */
const transferTimeoutMs = 5_000;
const leaderPollMs = 200;
const hexDigits = 12;

export interface ReplicaClusterParts {
  readonly clusterId: string;
  readonly self: MemberNumber;
  readonly state: ReplicaState;
  readonly node: RaftNode<undefined>;
  readonly proposer: Proposer;
  readonly leader: LeaderWatch;
  readonly store: Pick<Store, "failure">;
}

/** The members of a replica's cluster. The log decides their records; Raft itself holds the membership. */
export class ReplicaCluster implements Cluster {
  readonly #parts: ReplicaClusterParts;

  constructor(parts: ReplicaClusterParts) {
    this.#parts = parts;
  }

  get clusterId(): string {
    return this.#parts.clusterId;
  }

  get self(): MemberNumber {
    return this.#parts.self;
  }

  get isLeader(): boolean {
    return this.#parts.leader.isLeader;
  }

  status(): ReplicaStatus {
    const { clusterId, self, state, node, leader, store } = this.#parts;
    const status = node.status();
    const { revision, compactedRevision, size, hash } = state.objects;
    return {
      clusterId,
      self,
      role: roleOf(status, self),
      leader: leader.leader,
      term: status.term,
      lastIndex: status.lastIndex,
      commitIndex: status.commit,
      appliedIndex: state.index,
      flushedIndex: state.flushedIndex,
      revision,
      compactedRevision,
      objects: size,
      logBytes: status.logBytes,
      stateHash: hash.toString(16).padStart(hexDigits, "0"),
      members: this.members().map((member) => memberStatus(member, status)),
      failure: store.failure?.message,
    };
  }

  members(): readonly MemberRecord[] {
    return [...this.#parts.state.members.values()].sort((a, b) => a.id - b.id);
  }

  async confirmLeader(): Promise<boolean> {
    const { leader, node } = this.#parts;
    if (!leader.isLeader) return false;
    const { term } = node.status();
    try {
      await node.readIndex();
    } catch {
      return false;
    }
    return leader.isLeader && node.status().term === term;
  }

  async addLearner(member: Omit<MemberRecord, "id">): Promise<MemberRecord> {
    this.#assertLeader();
    if (!this.members().some(({ id, peerAddress }) => id === this.self && peerAddress !== "")) {
      throw aloneError();
    }
    for (const known of this.members()) {
      if (known.name !== member.name && known.peerAddress !== member.peerAddress) continue;
      if (this.#takesPart(known.id)) throw taken(known, member);
      // A remainder of an interrupted attempt.
      await this.#decide(() => this.#parts.proposer.decide({ kind: "forgetMember", id: known.id }));
    }
    const record = (await this.#decide(() =>
      this.#parts.proposer.decide({ kind: "member", member: { ...member, id: 0 } }),
    )) as MemberRecord;
    await this.#change("addLearner", record.id);
    return record;
  }

  async promote(id: MemberNumber): Promise<void> {
    this.#assertLeader();
    this.#assertKnown(id);
    await this.#change("promote", id);
  }

  async remove(id: MemberNumber): Promise<void> {
    this.#assertLeader();
    this.#assertKnown(id);
    if (this.#takesPart(id)) {
      this.#assertQuorumWithout(id);
      await this.#change("remove", id);
    }
    await this.#decide(() => this.#parts.proposer.decide({ kind: "forgetMember", id }));
  }

  async transferLeadership(to: MemberNumber): Promise<void> {
    this.#assertLeader();
    this.#assertKnown(to);
    const { self, node, leader } = this.#parts;
    if (to === self) return;
    try {
      node.transferLeadership(toMemberId(to));
    } catch (error) {
      throw clusterError(error);
    }
    const deadlineMs = performance.now() + transferTimeoutMs;
    while (leader.leader !== to) {
      const leftMs = deadlineMs - performance.now();
      if (leftMs <= 0) throw new ClusterError("busy", `member ${to} did not take over in time`, leader.leader);
      await leader.changed(Math.min(leaderPollMs, leftMs));
    }
  }

  async updateMember(member: MemberRecord): Promise<void> {
    await this.#decide(() => this.#parts.proposer.decide({ kind: "member", member }));
  }

  async image(): Promise<ClusterImage> {
    const { header, chunks, release } = await this.#parts.state.image();
    return { revision: header.record.revision, chunks, [Symbol.dispose]: release };
  }

  #takesPart(id: MemberNumber): boolean {
    const { membership } = this.#parts.node.status();
    return isVoter(membership, toMemberId(id)) || isLearner(membership, toMemberId(id));
  }

  #assertLeader(): void {
    const { leader } = this.#parts;
    if (!leader.isLeader) throw new ClusterError("notLeader", "this replica does not lead", leader.leader);
  }

  #assertKnown(id: MemberNumber): void {
    if (this.#parts.state.members.has(id) || this.#takesPart(id)) return;
    throw new ClusterError("unknownMember", `there is no member ${id}`);
  }

  /** Checks that more than half of the remaining voters are active, because the next write needs them. */
  #assertQuorumWithout(id: MemberNumber): void {
    const { self, node } = this.#parts;
    const { membership, progress } = node.status();
    if (!isVoter(membership, toMemberId(id))) return;
    const staying = membership.voters.filter((voter) => voter !== toMemberId(id));
    if (staying.length === 0) throw new ClusterError("quorumAtRisk", "it is the only voter: none would be left");
    const active = new Set(progress.filter(({ active }) => active).map(({ member }) => member));
    const heard = staying.filter((voter) => voter === toMemberId(self) || active.has(voter));
    if (heard.length > staying.length / 2) return;
    const message = `without member ${id} only ${heard.length} of ${staying.length} voters would be there, which is no quorum`;
    throw new ClusterError("quorumAtRisk", message);
  }

  async #change(operation: "addLearner" | "promote" | "remove", id: MemberNumber): Promise<void> {
    const step = { operation, member: toMemberId(id) };
    await this.#decide(() => this.#parts.node.changeMembership({ steps: [step], context: new Uint8Array() }));
  }

  async #decide<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      throw clusterError(error);
    }
  }
}

function roleOf(status: Status, self: MemberNumber): ReplicaStatus["role"] {
  const { role } = status;
  if (role === "leader") return role;
  const part = partOf(toMemberId(self), status);
  if (part === "none") return "removed";
  return part === "learner" || role === "follower" ? part : "candidate";
}

function memberStatus(record: MemberRecord, status: Status): MemberStatus {
  const { progress, leader, role, lastIndex, id } = status;
  const member = toMemberId(record.id);
  const known = progress.find((one) => one.member === member);
  const isSelf = member === id;
  const leads = role === "leader";
  return {
    ...record,
    role: leader === member ? "leader" : partOf(member, status),
    matchIndex: leads ? (isSelf ? lastIndex : known?.match) : undefined,
    isActive: leads ? isSelf || (known?.active ?? false) : undefined,
  };
}

function partOf(member: MemberId, { membership }: Status): "voter" | "learner" | "none" {
  if (isVoter(membership, member)) return "voter";
  return isLearner(membership, member) ? "learner" : "none";
}

function taken(known: MemberRecord, { name }: Omit<MemberRecord, "id">): ClusterError {
  const what = known.name === name ? `name ${name}` : `peer address ${known.peerAddress}`;
  const advice = "choose another, or remove that member first";
  return new ClusterError("conflict", `member ${known.id} has the ${what} already: ${advice}`);
}

const codes: Readonly<Record<string, ClusterErrorCode>> = {
  noLeader: "notLeader",
  dropped: "notLeader",
  behind: "notCaughtUp",
  quorumLost: "quorumAtRisk",
  notAMember: "unknownMember",
  alreadyAMember: "conflict",
  notALearner: "conflict",
  notAVoter: "conflict",
  noChange: "conflict",
  changePending: "busy",
  transferring: "busy",
  tooManyBytes: "busy",
};

function clusterError(error: unknown): unknown {
  if (error instanceof RaftError) {
    return new ClusterError(codes[error.code] ?? "unknown", error.message, error.leader || undefined);
  }
  if (error instanceof StoreUnavailableError) {
    return new ClusterError(error.outcome === "notDone" ? "busy" : "unknown", error.message);
  }
  return error;
}
