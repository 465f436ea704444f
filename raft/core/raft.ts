import { assert } from "./assert.ts";
import { Disk } from "./disk.ts";
import type { Entry } from "./entry.ts";
import type { Index, MemberId, Term } from "./ids.ts";
import { noMember } from "./ids.ts";
import { RaftLog } from "./log.ts";
import { isVoter } from "./membership.ts";
import type { Message, ReadOutcome } from "./message.ts";
import type { InitialState, Limits, RandomSource, RawNodeOptions } from "./options.ts";
import { defaultLimits } from "./options.ts";
import type { Reader } from "./read-queue.ts";
import type { ProposalResult, ReadState } from "./ready.ts";
import type { RoleState } from "./role.ts";
import type { SnapshotMeta } from "./snapshot.ts";

/** The limit of every count. Larger numbers are not exact. */
const countMax = Number.MAX_SAFE_INTEGER;
/** Indexes reserved for the entries that leaders need, so that a full log still has leaders and reads. */
const spareIndexes = 1 << 20;
/** Rejections after which a member that is not a voter stands for election. Normally, a voter has won by then. */
const olderAskedMin = 3;

/** Output that waits for the driver. */
export interface Outbox {
  messagesNow: Message[];
  messagesAfterPersist: Message[];
  readStates: ReadState[];
  proposalResults: ProposalResult[];
}

/** The state of one member, and the transitions that all roles share. Each role has a file of its own. */
export class Raft {
  readonly id: MemberId;
  readonly limits: Limits;
  readonly electionTicks: number;
  readonly heartbeatTicks: number;
  readonly log: RaftLog;
  readonly disk: Disk;
  outbox: Outbox = emptyOutbox();
  #random: RandomSource;
  #term: Term;
  #vote: MemberId;
  #role: RoleState;

  constructor(options: RawNodeOptions, { hardState, base, entries, applied }: InitialState) {
    assert(
      options.heartbeatTicks > 0 && options.heartbeatTicks < options.electionTicks,
      () => "heartbeatTicks must be less than electionTicks",
    );
    this.id = options.id;
    this.limits = { ...defaultLimits, ...options.limits };
    this.electionTicks = options.electionTicks;
    this.heartbeatTicks = options.heartbeatTicks;
    this.#random = options.random;
    this.log = new RaftLog(base, entries, Math.max(hardState.commit, applied) as Index);
    this.disk = new Disk(hardState, this.log.lastIndex);
    this.#term = Math.max(hardState.term, this.log.lastTerm) as Term;
    this.#vote = this.#term === hardState.term ? hardState.vote : noMember;
    this.#role = this.#follower(noMember);
  }

  get term(): Term {
    return this.#term;
  }

  get vote(): MemberId {
    return this.#vote;
  }

  get role(): RoleState {
    return this.#role;
  }

  set role(role: RoleState) {
    this.#role = role;
  }

  get leader(): MemberId {
    if (this.#role.role === "leader") return this.id;
    return this.#role.role === "follower" ? this.#role.leader : noMember;
  }

  /**
   * Whether this member hears from a leader. No other member can win before that leader becomes silent, so requests for
   * votes would only disturb (thesis §4.2.3). A leader hears from itself until its quorum becomes silent.
   */
  get hearsLeader(): boolean {
    const { role } = this;
    if (role.role === "leader") return true;
    return role.role === "follower" && role.leader !== noMember && role.elapsedTicks < this.electionTicks;
  }

  /**
   * Whether this member may stand for election. That includes voters and a member that completes its own removal, whose
   * log may be the only one with that entry (thesis §4.2.2). It also includes a member that others consider a voter and
   * ask for votes that it denies: if it has the newest log, no other member can be elected.
   */
  get mayStand(): boolean {
    const { log } = this;
    if (this.#term >= countMax - 1) return false;
    if (isVoter(log.membership, this.id)) return true;
    if (log.membershipIndex > log.commit && isVoter(log.membershipBefore, this.id)) return true;
    return this.#role.role === "follower" && this.#role.olderAsked >= olderAskedMin;
  }

  get isLogFull(): boolean {
    return this.log.lastIndex >= countMax - spareIndexes;
  }

  /**
   * Becomes a follower in this term or a later one. A later term begins without a vote; within a term the vote stays.
   */
  becomeFollower(term: Term, leader: MemberId): void {
    assert(term >= this.#term, () => `term ${this.#term} would go back to ${term}`);
    if (term > this.#term) {
      this.#term = term;
      this.#vote = noMember;
    }
    this.#refuseReads();
    this.#role = this.#follower(leader);
  }

  /** Begins a new term with a vote for itself. Both must be durable before any message mentions them. */
  becomeCandidate(): void {
    assert(this.#role.role !== "leader", () => "a leader does not stand for election");
    this.#term = (this.#term + 1) as Term;
    this.#vote = this.id;
    this.#role = { role: "candidate", votes: new Map(), elapsedTicks: 0, timeoutTicks: this.drawTimeout() };
  }

  giveVote(candidate: MemberId): void {
    assert(this.#vote === noMember || this.#vote === candidate, () => `the vote is given to ${this.#vote}`);
    this.#vote = candidate;
  }

  /** Returns a new random timeout for each wait, so that two candidates do not keep colliding (thesis §3.4). */
  drawTimeout(): number {
    return this.electionTicks + this.#random.below(this.electionTicks);
  }

  /**
   * Sends a message. A message that makes a promise waits for the disk, as does any message in a term that is not
   * durable yet.
   */
  send(message: Message): void {
    const waits = isPromise(message) || !this.disk.isTermDurable(this.#term);
    (waits ? this.outbox.messagesAfterPersist : this.outbox.messagesNow).push(message);
  }

  append(entries: readonly Entry[]): void {
    const first = entries[0];
    if (first === undefined) return;
    this.log.append(entries);
    this.disk.cutFrom(first.index);
  }

  restore(snapshot: SnapshotMeta): void {
    this.log.restore(snapshot);
    this.disk.replaceBy(snapshot);
  }

  answerRead({ member, id }: Reader, outcome: ReadOutcome): void {
    if (member === this.id) this.outbox.readStates.push({ id, outcome });
    else this.send({ type: "readIndexReply", from: this.id, to: member, term: this.#term, id, outcome });
  }

  /** Rejects the pending reads of a leader that steps down. */
  #refuseReads(): void {
    if (this.#role.role !== "leader") return;
    for (const reader of this.#role.reads.drain()) this.answerRead(reader, { kind: "refused", reason: "noLeader" });
  }

  #follower(leader: MemberId): RoleState {
    return { role: "follower", leader, elapsedTicks: 0, timeoutTicks: this.drawTimeout(), olderAsked: 0 };
  }
}

export function emptyOutbox(): Outbox {
  return { messagesNow: [], messagesAfterPersist: [], readStates: [], proposalResults: [] };
}

/** Reports whether receivers rely on the message after a crash: a vote requested or given, or acknowledged entries. */
function isPromise({ type }: Message): boolean {
  return type === "vote" || type === "voteReply" || type === "appendAccepted";
}
