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
 * Handles the apparent end of the leader's process. Voters stand for election one after the other, a heartbeat apart, so
 * that the first usually wins before the next begins. Each waits at least one tick, so that the others notice the loss
 * too.
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

/** Follows the sender, the leader of this term. Ends any wait or candidacy. */
export function hearLeader(raft: Raft, { from, term }: Append | Heartbeat | InstallSnapshot): void {
  const { role } = raft;
  assert(role.role !== "leader", () => `member ${from} leads term ${term} as well`);
  if (role.role !== "follower" || role.leader !== from) return raft.becomeFollower(term, from);
  role.elapsedTicks = 0;
  role.olderAsked = 0;
}

/**
 * Appends entries that continue this log. Otherwise replies with the position to continue from (thesis §3.5). Only an
 * entry that contradicts one here cuts the log, because an old message may contain less than this log has now.
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

/** Takes a heartbeat. The leader knows that this member holds everything up to `commit`. */
export function takeHeartbeat(raft: Raft, { from, commit, round }: Heartbeat): void {
  raft.log.commitTo(commit);
  raft.send({ type: "heartbeatReply", from: raft.id, to: from, term: raft.term, round });
}

/** Takes a complete snapshot. If it is old or unnecessary, only advances the commit index. */
export function takeSnapshot(raft: Raft, { from, snapshot }: InstallSnapshot): void {
  const { log } = raft;
  if (snapshot.index > log.commit) {
    if (log.termAt(snapshot.index) === snapshot.term) log.commitTo(snapshot.index);
    else raft.restore(snapshot);
  }
  acceptUpTo(raft, from, log.commit);
}

/**
 * Stands for election because the leader transfers leadership. The leader has ensured that this log is complete (thesis
 * §3.10).
 */
export function takeTimeoutNow(raft: Raft, { from }: TimeoutNow): void {
  if (raft.leader === from && raft.mayStand) stand(raft, true);
}

/** Acknowledges the log up to `index`. The message waits for all earlier writes, so it is true when it is sent. */
function acceptUpTo(raft: Raft, leader: Append["from"], index: Index): void {
  raft.send({ type: "appendAccepted", from: raft.id, to: leader, term: raft.term, index });
}
