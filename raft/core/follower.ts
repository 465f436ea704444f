import { assert } from "./assert.ts";
import { campaign, stand } from "./candidate.ts";
import { type Index, type MemberId, noMember } from "./ids.ts";
import { isOnlyVoter, votersOf } from "./membership.ts";
import type { Append, Heartbeat, InstallSnapshot, TimeoutNow } from "./message.ts";
import type { Raft } from "./raft.ts";
import type { Follower } from "./role.ts";

export function tickFollower(raft: Raft, role: Follower): void {
  role.elapsedTicks++;
  if ((role.elapsedTicks >= role.timeoutTicks || isOnlyVoter(raft.log.membership, raft.id)) && raft.mayStand)
    campaign(raft);
}

/**
 * The leader's process has ended, by all that can be seen from here. Voters stand one after the other, a heartbeat apart:
 * the first of them mostly wins before the next one begins. One tick at least, for the others to see it as well.
 */
export function loseLeader(raft: Raft, member: MemberId): void {
  const { role } = raft;
  if (role.role !== "follower" || role.leader !== member) return;
  raft.becomeFollower(raft.term, noMember);
  if (!raft.mayStand) return;
  const before = votersOf(raft.log.membership).filter((voter) => voter < raft.id && voter !== member).length;
  const timeoutTicks = Math.min(1 + before * raft.heartbeatTicks, raft.electionTicks);
  raft.role = { role: "follower", leader: noMember, elapsedTicks: 0, timeoutTicks, olderAsked: 0 };
}

/** The sender leads this term: whoever waits or stands for election follows it now. */
export function hearLeader(raft: Raft, { from, term }: Append | Heartbeat | InstallSnapshot): void {
  const { role } = raft;
  assert(role.role !== "leader", () => `member ${from} leads term ${term} as well`);
  if (role.role !== "follower" || role.leader !== from) return raft.becomeFollower(term, from);
  role.elapsedTicks = 0;
  role.olderAsked = 0;
}

/**
 * Takes entries that follow on what is here; says where to look when they do not (thesis §3.5). Only an entry that
 * contradicts one here cuts the log: an old message, which says less than is known by now, must not.
 */
export function takeAppend(raft: Raft, { from, prevIndex, prevTerm, entries, commit }: Append): void {
  const { id, term, log } = raft;
  if (prevIndex < log.commit) return acceptUpTo(raft, from, log.commit);
  if (log.termAt(prevIndex) !== prevTerm) {
    const hint = log.lastAgreeing({ index: prevIndex, term: prevTerm });
    const { index: hintIndex, term: hintTerm } = hint;
    return raft.send({ type: "appendRejected", from: id, to: from, term, prevIndex, hintIndex, hintTerm });
  }
  const lastSent = (prevIndex + entries.length) as Index;
  const first = log.firstNew(entries);
  if (first !== undefined) raft.append(entries.slice(first.index - prevIndex - 1));
  log.commitTo(Math.min(commit, lastSent) as Index);
  acceptUpTo(raft, from, lastSent);
}

/** The leader knows that this member holds everything up to `commit`. */
export function takeHeartbeat(raft: Raft, { from, commit, round }: Heartbeat): void {
  raft.log.commitTo(commit);
  raft.send({ type: "heartbeatReply", from: raft.id, to: from, term: raft.term, round });
}

/** The whole snapshot is here. One that is no news, or that the log can do without, changes nothing but the commit. */
export function takeSnapshot(raft: Raft, { from, snapshot }: InstallSnapshot): void {
  const { log } = raft;
  if (snapshot.index > log.commit) {
    if (log.termAt(snapshot.index) === snapshot.term) log.commitTo(snapshot.index);
    else raft.restore(snapshot);
  }
  acceptUpTo(raft, from, log.commit);
}

/** The leader hands over; it has made sure that the log here is complete (thesis §3.10). */
export function takeTimeoutNow(raft: Raft, { from }: TimeoutNow): void {
  if (raft.leader === from && raft.mayStand) stand(raft, true);
}

/** Waits for everything that was handed to the disk before, so the promise is true when it leaves. */
function acceptUpTo(raft: Raft, leader: Append["from"], index: Index): void {
  raft.send({ type: "appendAccepted", from: raft.id, to: leader, term: raft.term, index });
}
