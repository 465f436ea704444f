import type { Entry, EntryKind } from "./entry.ts";
import { entryBytes } from "./entry.ts";
import type { Index, MemberId } from "./ids.ts";
import { noMember } from "./ids.ts";
import { dropWhoLeft, settleMembership, syncPeers } from "./membership-change.ts";
import type { AppendAccepted, AppendRejected, HeartbeatReply, ProposalOutcome } from "./message.ts";
import type { Peer } from "./progress.ts";
import { noteArrived, probe, replicate } from "./progress.ts";
import type { Raft } from "./raft.ts";
import type { Reader } from "./read-queue.ts";
import { ReadQueue } from "./read-queue.ts";
import type { Refusal } from "./refusal.ts";
import {
  answeredRound,
  committable,
  decidesWith,
  hearsQuorum,
  isVoting,
  knowsCommit,
  sendAppends,
} from "./replication.ts";
import type { Leader } from "./role.ts";
import { completeTransfer, tickTransfer } from "./transfer.ts";

const nothing = new Uint8Array();

/**
 * Takes office with an entry of its own, which commits earlier entries and shows which ones are committed (thesis §6.4).
 */
export function becomeLeader(raft: Raft): void {
  const { log } = raft;
  const leader: Leader = {
    role: "leader",
    peers: new Map(),
    firstIndex: (log.lastIndex + 1) as Index,
    reads: new ReadQueue(),
    uncommittedBytes: 0,
    heartbeatElapsedTicks: 0,
    transfer: undefined,
  };
  leader.uncommittedBytes = bytesBetween(raft, log.commit, log.lastIndex);
  raft.role = leader;
  syncPeers(raft, leader);
  appendEntry(raft, leader, "empty", nothing);
  heartbeat(raft, leader);
}

export function tickLeader(raft: Raft, leader: Leader): void {
  for (const peer of leader.peers.values()) peer.silentTicks++;
  if (!hearsQuorum(raft, leader)) return raft.becomeFollower(raft.term, noMember);
  dropWhoLeft(raft, leader);
  tickTransfer(raft, leader);
  leader.heartbeatElapsedTicks++;
  if (leader.heartbeatElapsedTicks >= raft.heartbeatTicks) heartbeat(raft, leader);
}

/** Sends the proposals and reads of this turn in few messages. */
export function sendPending(raft: Raft, leader: Leader): void {
  sendAppends(raft, leader);
  if (leader.reads.wantsRound && knowsCommit(raft, leader)) heartbeat(raft, leader);
}

export function proposeHere(raft: Raft, leader: Leader, data: Uint8Array): ProposalOutcome {
  const reason = objection(raft, leader, data);
  if (reason !== undefined) return { kind: "refused", reason };
  const { index, term } = appendEntry(raft, leader, "normal", data);
  return { kind: "appended", index, term };
}

/**
 * Starts a read. @param term the reader's term when it asked
 * @returns the reason for a rejection, or `undefined` if the read is answered or waits for its round
 */
export function readHere(raft: Raft, leader: Leader, reader: Reader, term = raft.term): Refusal | undefined {
  if (decidesWith(raft, leader, reader.member, term)) {
    raft.answerRead(reader, { kind: "confirmed", index: raft.log.commit });
    return undefined;
  }
  if (leader.reads.size >= raft.limits.pendingReadsMax) return "tooManyReads";
  leader.reads.add(reader);
  return undefined;
}

export function appendEntry(raft: Raft, leader: Leader, kind: EntryKind, data: Uint8Array): Entry {
  const entry: Entry = { index: (raft.log.lastIndex + 1) as Index, term: raft.term, kind, data };
  raft.append([entry]);
  leader.uncommittedBytes += entryBytes(entry);
  return entry;
}

/** Counts the durable copies and acts on newly committed entries. */
export function advanceCommit(raft: Raft, leader: Leader): void {
  const { log } = raft;
  const index = committable(raft, leader);
  if (index === log.commit) return;
  leader.uncommittedBytes -= bytesBetween(raft, log.commit, index);
  log.commitTo(index);
  const next = settleMembership(raft);
  if (next === "resign") resign(raft, leader);
  else if (next !== undefined) {
    appendEntry(raft, leader, "confChange", next);
    syncPeers(raft, leader);
  }
}

export function takeAccepted(raft: Raft, leader: Leader, peer: Peer, { index }: AppendAccepted): void {
  if (index > raft.log.lastIndex) return;
  noteMatch(raft, peer, index);
  advanceCommit(raft, leader);
  if (raft.role === leader) completeTransfer(raft, leader);
}

/** Moves the probe back by whole terms. Only a reply to the latest append contains new information. */
export function takeRejected(raft: Raft, peer: Peer, { prevIndex, hintIndex, hintTerm }: AppendRejected): void {
  const { progress } = peer;
  if (progress.state === "snapshot" || prevIndex <= progress.match) return;
  if (progress.state === "replicate") {
    peer.progress = probe(progress.match);
    return;
  }
  if (prevIndex !== progress.next - 1) return;
  const agreed = raft.log.lastAgreeing({ index: hintIndex, term: hintTerm });
  const next = Math.max(progress.match + 1, Math.min(prevIndex, agreed.index + 1));
  peer.progress = probe(progress.match, next as Index);
}

export function takeHeartbeatReply(raft: Raft, leader: Leader, peer: Peer, { round }: HeartbeatReply): void {
  peer.roundAnswered = Math.max(peer.roundAnswered, round);
  const { progress } = peer;
  if (progress.state === "probe") progress.paused = false;
  if (progress.match < raft.log.lastIndex) peer.poked = true;
  confirmReads(raft, leader);
}

/** Sends a heartbeat to every follower and begins a round for the waiting reads. */
function heartbeat(raft: Raft, leader: Leader): void {
  const { id, term, log } = raft;
  leader.heartbeatElapsedTicks = 0;
  const round = leader.reads.beginRound(knowsCommit(raft, leader) ? log.commit : undefined);
  for (const { member, progress } of leader.peers.values()) {
    const commit = Math.min(progress.match, log.commit) as Index;
    raft.send({ type: "heartbeat", from: id, to: member, term, commit, round });
  }
  confirmReads(raft, leader);
}

function confirmReads(raft: Raft, leader: Leader): void {
  for (const { index, readers } of leader.reads.confirm(answeredRound(raft, leader))) {
    for (const reader of readers) raft.answerRead(reader, { kind: "confirmed", index });
  }
}

function objection(raft: Raft, leader: Leader, data: Uint8Array): Refusal | undefined {
  const { limits } = raft;
  if (!isVoting(raft)) return "removed";
  if (leader.transfer !== undefined) return "transferring";
  if (raft.isLogFull) return "logFull";
  if (data.length > limits.proposalBytesMax) return "tooManyBytes";
  const waiting = leader.uncommittedBytes;
  return waiting > 0 && waiting + data.length > limits.uncommittedBytesMax ? "tooManyBytes" : undefined;
}

function noteMatch(raft: Raft, peer: Peer, index: Index): void {
  const { progress } = peer;
  if (index < progress.match) return;
  switch (progress.state) {
    case "probe":
      peer.progress = replicate(index);
      return;
    case "replicate":
      progress.match = index;
      progress.next = Math.max(progress.next, index + 1) as Index;
      return noteArrived(progress, index);
    case "snapshot":
      progress.match = index;
      if (index >= raft.log.base.index) peer.progress = replicate(index);
  }
}

/**
 * Steps down after losing its vote. Asks the most advanced voter to stand first, which saves the others an election
 * timeout.
 */
function resign(raft: Raft, leader: Leader): void {
  sendAppends(raft, leader);
  const heir = bestInformed(raft, leader);
  if (heir !== undefined) raft.send({ type: "timeoutNow", from: raft.id, to: heir, term: raft.term });
  raft.becomeFollower(raft.term, noMember);
}

function bestInformed(raft: Raft, leader: Leader): MemberId | undefined {
  let best: Peer | undefined;
  for (const member of raft.log.membership.voters) {
    const peer = leader.peers.get(member);
    if (peer !== undefined && peer.progress.match > (best?.progress.match ?? 0)) best = peer;
  }
  return best?.member;
}

function bytesBetween({ log }: Raft, after: Index, to: Index): number {
  let bytes = 0;
  for (let index = after + 1; index <= to; index++) {
    const entry = log.entryAt(index as Index);
    if (entry !== undefined) bytes += entryBytes(entry);
  }
  return bytes;
}
