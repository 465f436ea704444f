import { bytesOf } from "./entry.ts";
import type { Index, MemberId, Term } from "./ids.ts";
import { noIndex } from "./ids.ts";
import { isVoter } from "./membership.ts";
import type { Peer, Replicate } from "./progress.ts";
import { noteSent } from "./progress.ts";
import { quorumValue } from "./quorum.ts";
import type { Raft } from "./raft.ts";
import type { Leader } from "./role.ts";

/** Sends every follower the entries that it lacks and that fit in its window. */
export function sendAppends(raft: Raft, leader: Leader): void {
  for (const peer of leader.peers.values()) {
    while (isDue(raft, peer) && sendNext(raft, peer));
  }
}

/**
 * Returns the largest index that is durable on a quorum, if its entry is of this term. An entry of an earlier term may
 * be on a quorum and still be replaced, so it is only committed by a later entry of this term (thesis §3.6.2, figure
 * 3.7). The leader counts like any other member: while it votes, and up to the durable index of its own disk.
 */
export function committable(raft: Raft, leader: Leader): Index {
  const { log } = raft;
  const index = quorumValue(log.membership, (member) => {
    if (member === raft.id) return raft.disk.durable;
    return leader.peers.get(member)?.progress.match ?? noIndex;
  }) as Index;
  return index > log.commit && log.termAt(index) === raft.term ? index : log.commit;
}

/** Returns the newest round that a quorum has answered. A voting leader answers its own rounds at once. */
export function answeredRound(raft: Raft, leader: Leader): number {
  return quorumValue(raft.log.membership, (member) => {
    if (member === raft.id) return leader.reads.round;
    return leader.peers.get(member)?.roundAnswered ?? 0;
  });
}

/** Reports whether messages from a quorum arrived within the last election timeout. */
export function hearsQuorum(raft: Raft, leader: Leader, membership = raft.log.membership): boolean {
  const heard = quorumValue(membership, (member) => (isHeard(raft, leader, member) ? 1 : 0));
  return heard === 1;
}

function isHeard(raft: Raft, leader: Leader, member: MemberId): boolean {
  if (member === raft.id) return true;
  const peer = leader.peers.get(member);
  return peer !== undefined && isActive(raft, peer);
}

export function isActive(raft: Raft, peer: Peer): boolean {
  return peer.silentTicks < raft.electionTicks;
}

/** Reports whether a member has every entry except the most recent ones. */
export function isCaughtUp(raft: Raft, peer: Peer): boolean {
  const { progress } = peer;
  if (progress.state !== "replicate" || !isActive(raft, peer)) return false;
  return raft.log.lastIndex - progress.match <= raft.limits.promotionLagMax;
}

/**
 * Reports whether the leader knows the commit index. Before it has committed an entry of its own term, it may know less
 * than its predecessor had committed.
 */
export function knowsCommit(raft: Raft, leader: Leader): boolean {
  return raft.log.commit >= leader.firstIndex;
}

/**
 * Reports whether the request itself confirms its read. While its sender was in this term, it had not elected a leader
 * of a later one. When sender and leader form a quorum, no other leader could have been elected. This says nothing
 * about reads that began later.
 */
export function decidesWith(raft: Raft, leader: Leader, sender: MemberId, term: Term): boolean {
  if (term !== raft.term || !knowsCommit(raft, leader)) return false;
  return quorumValue(raft.log.membership, (member) => (member === raft.id || member === sender ? 1 : 0)) === 1;
}

export function isVoting(raft: Raft): boolean {
  return isVoter(raft.log.membership, raft.id);
}

function isDue(raft: Raft, peer: Peer): boolean {
  const { progress } = peer;
  if (progress.state === "snapshot") return false;
  if (progress.state === "probe") return !progress.paused;
  if (peer.poked) return true;
  const news = progress.next <= raft.log.lastIndex || peer.commitSent < raft.log.commit;
  return news && hasRoom(raft, progress);
}

function hasRoom(raft: Raft, { inflights, inflightBytes }: Replicate): boolean {
  return inflights.length < raft.limits.inflightMessagesMax && inflightBytes < raft.limits.inflightBytesMax;
}

/** Sends the next append. @returns whether there may be more to send */
function sendNext(raft: Raft, peer: Peer): boolean {
  const { progress } = peer;
  if (progress.state === "snapshot") return false;
  const { log, id, term } = raft;
  const prevIndex = (progress.next - 1) as Index;
  const prevTerm = log.termAt(prevIndex);
  if (prevTerm === undefined) return sendSnapshot(raft, peer);
  const mayFill = progress.state === "probe" || hasRoom(raft, progress);
  const entries = mayFill ? log.slice(progress.next, log.lastIndex, raft.limits.appendBytesMax) : [];
  peer.commitSent = log.commit;
  peer.poked = false;
  raft.send({ type: "append", from: id, to: peer.member, term, prevIndex, prevTerm, entries, commit: log.commit });
  const last = entries.at(-1);
  if (progress.state === "probe") progress.paused = true;
  else if (last !== undefined) noteSent(progress, last.index, bytesOf(entries));
  return progress.state === "replicate" && last !== undefined;
}

function sendSnapshot(raft: Raft, peer: Peer): boolean {
  const { id, term, log } = raft;
  if (!isActive(raft, peer)) return false;
  const snapshot = log.describe(log.base.index);
  peer.progress = { state: "snapshot", match: peer.progress.match, pendingSnapshot: snapshot.index };
  raft.send({ type: "snapshot", from: id, to: peer.member, term, snapshot });
  return false;
}
