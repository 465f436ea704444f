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
import type { ProposalResult, ReadState } from "./ready.ts";
import type { RoleState } from "./role.ts";
import type { Reader } from "./read-queue.ts";
import type { SnapshotMeta } from "./snapshot.ts";

/** What no member may reach: the next one up could no longer be told from it. */
const countMax = Number.MAX_SAFE_INTEGER;
/** Kept free for the entries that leaders need, so that a full log can still be led and read. */
const spareIndexes = 1 << 20;
/** So many are refused before who is no voter stands: a voter that can win has mostly won by then. */
const olderAskedMin = 3;

/** What is waiting to be handed to the driver. */
export interface Outbox {
  messagesNow: Message[];
  messagesAfterPersist: Message[];
  readStates: ReadState[];
  proposalResults: ProposalResult[];
}

/** The state of one member, and the moves that every role makes. What a role does is in the file named after it. */
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
    assert(options.heartbeatTicks > 0 && options.heartbeatTicks < options.electionTicks, () => "ticks do not fit");
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
   * The one that is heard from is leader: nobody else can win before it falls silent, so asking for votes would only
   * disturb (thesis §4.2.3). A leader hears itself until its quorum falls silent.
   */
  get hearsLeader(): boolean {
    const { role } = this;
    if (role.role === "leader") return true;
    return role.role === "follower" && role.leader !== noMember && role.elapsedTicks < this.electionTicks;
  }

  /**
   * Voters, and a member that would finish its own removal: its log may be the only one that holds it (thesis §4.2.2).
   * Also one that others, for whom it is a voter, ask in vain: where it has the newest log, nobody else can be elected.
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

  /** To a later term, where no vote is given yet; within a term the vote stays what it is. */
  becomeFollower(term: Term, leader: MemberId): void {
    assert(term >= this.#term, () => `term ${this.#term} would go back to ${term}`);
    if (term > this.#term) {
      this.#term = term;
      this.#vote = noMember;
    }
    this.#refuseReads();
    this.#role = this.#follower(leader);
  }

  /** A new term with the vote for itself, both to be made durable before anybody hears of them. */
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

  /** Drawn anew for each wait, so that two candidates do not go on meeting (thesis §3.4). */
  drawTimeout(): number {
    return this.electionTicks + this.#random.below(this.electionTicks);
  }

  /** Messages that promise something wait for the disk, and so does the news of a term that is not durable yet. */
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

  /** Who is no leader any more confirms nothing. */
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

/** A vote asked for or given, and entries acknowledged: whoever hears of them counts on them after a crash. */
function isPromise({ type }: Message): boolean {
  return type === "vote" || type === "voteReply" || type === "appendAccepted";
}
