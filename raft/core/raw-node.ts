import { assert } from "./assert.ts";
import { campaign, countOwnVote, tickCandidate } from "./candidate.ts";
import type { ConfChange } from "./conf-change.ts";
import type { ConsensusNode, ProgressStatus, ProposeAnswer, Status, Taken } from "./consensus-node.ts";
import type { Entry } from "./entry.ts";
import { bytesOf } from "./entry.ts";
import { loseLeader, tickFollower } from "./follower.ts";
import type { Index, MemberId, RequestId } from "./ids.ts";
import { noMember } from "./ids.ts";
import { advanceCommit, appendEntry, proposeHere, readHere, sendPending, tickLeader } from "./leader.ts";
import type { LogView } from "./log.ts";
import { isLearner } from "./membership.ts";
import { planChange, syncPeers } from "./membership-change.ts";
import type { Message, ProposalOutcome } from "./message.ts";
import type { InitialState, RawNodeOptions } from "./options.ts";
import { probe } from "./progress.ts";
import { emptyOutbox, Raft } from "./raft.ts";
import type { HardState, Ready, SoftState, Write, WriteMark } from "./ready.ts";
import { decidesWith, isActive } from "./replication.ts";
import type { SnapshotMeta } from "./snapshot.ts";
import { step } from "./step.ts";
import { beginTransfer } from "./transfer.ts";

/** Committed entries that the state machine received and has not reported as applied. */
interface Applying {
  readonly index: Index;
  readonly bytes: number;
}

/**
 * One member of the cluster as a pure function of its inputs: no clock, no I/O, and only the random source passed in.
 * The driver feeds it and executes each `Ready`; `ready.ts` gives the order.
 */
export class RawNode implements ConsensusNode {
  readonly #raft: Raft;
  #toldSoftState: SoftState;
  #applied: Index;
  /** The index up to which the state machine received entries. `#applied` ≤ `#handedToApply` ≤ commit, and durable. */
  #handedToApply: Index;
  #applying: Applying[] = [];
  #applyingBytes = 0;
  #taken: Ready | undefined;

  /** Creates a node. @throws RaftInvariantError if the stored data is inconsistent */
  constructor(options: RawNodeOptions, initial: InitialState) {
    const { base, applied } = initial;
    assert(applied >= base.index, () => `the state machine is at ${applied}, before the log's base ${base.index}`);
    this.#raft = new Raft(options, initial);
    this.#applied = applied;
    this.#handedToApply = applied;
    this.#toldSoftState = this.softState;
  }

  get id(): MemberId {
    return this.#raft.id;
  }

  get softState(): SoftState {
    const { role, term, leader } = this.#raft;
    return { role: role.role, term, leader };
  }

  /** The log, for checkers and diagnosis. */
  get log(): LogView {
    return this.#raft.log;
  }

  tick(): void {
    const raft = this.#enter();
    const { role } = raft;
    if (role.role === "leader") tickLeader(raft, role);
    else if (role.role === "follower") tickFollower(raft, role);
    else tickCandidate(raft, role);
  }

  step(message: Message): void {
    step(this.#enter(), message);
  }

  campaign(): void {
    campaign(this.#enter());
  }

  propose(id: RequestId, data: Uint8Array): ProposeAnswer {
    const raft = this.#enter();
    if (raft.role.role === "leader") return proposeHere(raft, raft.role, data);
    if (data.length > raft.limits.proposalBytesMax) return { kind: "refused", reason: "tooManyBytes" };
    const to = raft.leader;
    if (to === noMember) return { kind: "refused", reason: "noLeader" };
    raft.send({ type: "propose", from: raft.id, to, term: raft.term, id, data });
    return { kind: "forwarded", to };
  }

  proposeConfChange(change: ConfChange): ProposalOutcome {
    const raft = this.#enter();
    if (raft.role.role !== "leader") return { kind: "refused", reason: "noLeader" };
    const planned = planChange(raft, raft.role, change);
    if (planned.kind === "refused") return planned;
    const { index, term } = appendEntry(raft, raft.role, "confChange", planned.data);
    syncPeers(raft, raft.role);
    return { kind: "appended", index, term };
  }

  readIndex(id: RequestId): Taken {
    const raft = this.#enter();
    if (raft.role.role === "leader") return readHere(raft, raft.role, { member: raft.id, id });
    const to = raft.leader;
    if (to === noMember) return "noLeader";
    raft.send({ type: "readIndex", from: raft.id, to, term: raft.term, id });
    return undefined;
  }

  readAlone(): Index | undefined {
    const raft = this.#enter();
    return raft.role.role === "leader" && decidesWith(raft, raft.role, raft.id, raft.term)
      ? raft.log.commit
      : undefined;
  }

  transferLeadership(to: MemberId): Taken {
    const raft = this.#enter();
    return raft.role.role === "leader" ? beginTransfer(raft, raft.role, to) : "noLeader";
  }

  stepDown(): void {
    const raft = this.#enter();
    if (raft.role.role === "leader") raft.becomeFollower(raft.term, noMember);
  }

  hasReady(): boolean {
    this.#sendPending();
    const { outbox, disk, log } = this.#raft;
    return (
      outbox.messagesNow.length > 0 ||
      outbox.messagesAfterPersist.length > 0 ||
      outbox.readStates.length > 0 ||
      outbox.proposalResults.length > 0 ||
      disk.handed < log.lastIndex ||
      disk.snapshot !== undefined ||
      this.#isHardStateNew() ||
      this.#committedTo() > this.#handedToApply ||
      this.#isSoftStateNew()
    );
  }

  ready(): Ready {
    this.#sendPending();
    const write = this.#write();
    const ready: Ready = {
      ...this.#raft.outbox,
      ...(this.#isSoftStateNew() && { softState: this.softState }),
      ...(write !== undefined && { write }),
      committed: this.#committed(),
    };
    this.#taken = ready;
    return ready;
  }

  advance(ready: Ready): void {
    assert(ready === this.#taken, () => "only the last ready can be taken, and only once");
    this.#taken = undefined;
    const raft = this.#raft;
    raft.outbox = emptyOutbox();
    if (ready.softState !== undefined) this.#toldSoftState = ready.softState;
    if (ready.write !== undefined) raft.disk.handOut(ready.write.mark, this.#hardState());
    const last = ready.committed.at(-1);
    if (last === undefined) return;
    const bytes = bytesOf(ready.committed);
    this.#handedToApply = last.index;
    this.#applying.push({ index: last.index, bytes });
    this.#applyingBytes += bytes;
  }

  persisted(mark: WriteMark): void {
    const raft = this.#enter();
    const installed = raft.disk.persisted(mark);
    if (installed !== undefined) this.#startFrom(installed.index);
    countOwnVote(raft);
    if (raft.role.role === "leader") advanceCommit(raft, raft.role);
  }

  applied(index: Index): void {
    this.#enter();
    if (index <= this.#applied) return;
    assert(index <= this.#handedToApply, () => `entry ${index} was applied before it was handed out`);
    this.#applied = index;
    while (this.#applying[0] !== undefined && this.#applying[0].index <= index) {
      this.#applyingBytes -= this.#applying[0].bytes;
      this.#applying.shift();
    }
  }

  reportUnreachable(member: MemberId): void {
    const peer = this.#peer(member);
    if (peer?.progress.state === "replicate") peer.progress = probe(peer.progress.match);
  }

  reportGone(member: MemberId): void {
    loseLeader(this.#enter(), member);
  }

  reportSnapshot(member: MemberId, arrived: boolean): void {
    const peer = this.#peer(member);
    if (peer?.progress.state !== "snapshot") return;
    const { match, pendingSnapshot } = peer.progress;
    const next = Math.max(match, arrived ? pendingSnapshot : match) + 1;
    peer.progress = { ...probe(match, next as Index), paused: true };
  }

  snapshotMeta(index: Index): SnapshotMeta {
    assert(index <= this.#applied, () => `no state at ${index} yet`);
    return this.#raft.log.describe(index);
  }

  compact(index: Index): void {
    const raft = this.#enter();
    assert(index <= this.#applied, () => `entry ${index} is not applied and cannot be forgotten`);
    raft.log.compact(index);
  }

  status(): Status {
    const { log, disk, role } = this.#raft;
    return {
      ...this.softState,
      id: this.id,
      commit: log.commit,
      applied: this.#applied,
      durable: disk.durable,
      baseIndex: log.base.index,
      lastIndex: log.lastIndex,
      logBytes: log.bytes,
      uncommittedBytes: role.role === "leader" ? role.uncommittedBytes : 0,
      membership: log.membership,
      transferringTo: role.role === "leader" ? (role.transfer?.to ?? noMember) : noMember,
      progress: this.#progress(),
    };
  }

  #enter(): Raft {
    assert(this.#taken === undefined, () => "the last ready was not taken");
    return this.#raft;
  }

  #sendPending(): void {
    const raft = this.#enter();
    if (raft.role.role === "leader") sendPending(raft, raft.role);
  }

  #isSoftStateNew(): boolean {
    const { role, term, leader } = this.#raft;
    const before = this.#toldSoftState;
    return before.role !== role.role || before.term !== term || before.leader !== leader;
  }

  #isHardStateNew(): boolean {
    const { term, vote, disk } = this.#raft;
    return disk.handedState.term !== term || disk.handedState.vote !== vote;
  }

  #hardState(): HardState {
    const { term, vote, log } = this.#raft;
    return { term, vote, commit: log.commit };
  }

  /**
   * Returns the next write. A new commit index alone needs no write: the next one includes it, and a restarted member
   * learns it again.
   */
  #write(): Write | undefined {
    const { log, disk } = this.#raft;
    const { snapshot } = disk;
    const entries = log.slice((disk.handed + 1) as Index, log.lastIndex, Number.POSITIVE_INFINITY);
    if (entries.length === 0 && snapshot === undefined && !this.#isHardStateNew()) return undefined;
    const hardState = this.#hardState();
    const isNew = this.#isHardStateNew() || disk.handedState.commit !== log.commit;
    const mark = disk.nextMark(log.lastTerm, log.lastIndex);
    return { mark, entries, ...(isNew && { hardState }), ...(snapshot !== undefined && { snapshot }) };
  }

  /** Returns committed entries that are durable here too, up to the amount that the state machine takes at once. */
  #committed(): Entry[] {
    const to = this.#committedTo();
    if (to <= this.#handedToApply) return [];
    return this.#raft.log.slice((this.#handedToApply + 1) as Index, to, this.#raft.limits.committedBytesMax);
  }

  #committedTo(): Index {
    const { log, disk, limits } = this.#raft;
    if (this.#applyingBytes >= limits.committedBytesMax) return this.#handedToApply;
    return Math.min(log.commit, disk.durable) as Index;
  }

  /** Continues after an installed snapshot. The state machine already has it. */
  #startFrom(index: Index): void {
    this.#applying = [];
    this.#applyingBytes = 0;
    this.#applied = index;
    this.#handedToApply = index;
  }

  #peer(member: MemberId) {
    const { role } = this.#enter();
    return role.role === "leader" ? role.peers.get(member) : undefined;
  }

  #progress(): ProgressStatus[] {
    const raft = this.#raft;
    if (raft.role.role !== "leader") return [];
    return [...raft.role.peers.values()].map((peer) => ({
      member: peer.member,
      state: peer.progress.state,
      match: peer.progress.match,
      learner: isLearner(raft.log.membership, peer.member),
      active: isActive(raft, peer),
    }));
  }
}
