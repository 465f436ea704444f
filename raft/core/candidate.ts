import type { MemberId, Term } from "./ids.ts";
import { noMember } from "./ids.ts";
import { becomeLeader } from "./leader.ts";
import { votersOf } from "./membership.ts";
import type { PreVoteReply, VoteReply } from "./message.ts";
import { tally } from "./quorum.ts";
import type { Raft } from "./raft.ts";
import type { Candidate, PreCandidate } from "./role.ts";

/** Asks for pre-votes: a member that was cut off must not disturb the cluster with a new term (thesis §9.6). */
export function campaign(raft: Raft): void {
  if (!raft.mayStand || raft.role.role === "leader") return;
  const role: PreCandidate = {
    role: "preCandidate",
    votes: new Map([[raft.id, true]]),
    elapsedTicks: 0,
    timeoutTicks: raft.drawTimeout(),
  };
  raft.role = role;
  const term = (raft.term + 1) as Term;
  for (const to of others(raft)) raft.send({ type: "preVote", from: raft.id, to, term, ...lastOf(raft) });
  countPreVotes(raft, role);
}

/** @param transfer whether the leader itself requested the election, which then needs no pre-vote */
export function stand(raft: Raft, transfer: boolean): void {
  raft.becomeCandidate();
  const { id, term } = raft;
  for (const to of others(raft)) raft.send({ type: "vote", from: id, to, term, ...lastOf(raft), transfer });
}

export function tickCandidate(raft: Raft, role: PreCandidate | Candidate): void {
  role.elapsedTicks++;
  if (role.elapsedTicks < role.timeoutTicks) return;
  if (raft.mayStand) campaign(raft);
  else raft.becomeFollower(raft.term, noMember);
}

/** Takes a pre-vote reply. A rejection carries the voter's own term, and a member in an earlier term joins that term. */
export function takePreVoteReply(raft: Raft, { from, term, granted }: PreVoteReply): void {
  if (!granted && term > raft.term) return raft.becomeFollower(term, noMember);
  const { role } = raft;
  const asked = granted ? raft.term + 1 : raft.term;
  if (role.role !== "preCandidate" || term !== asked) return;
  role.votes.set(from, granted);
  countPreVotes(raft, role);
}

export function takeVoteReply(raft: Raft, { from, granted }: VoteReply): void {
  const { role } = raft;
  if (role.role !== "candidate") return;
  role.votes.set(from, granted);
  countVotes(raft, role);
}

/** Counts its own vote. Like any other vote, it counts once it is durable. */
export function countOwnVote(raft: Raft): void {
  const { role } = raft;
  if (role.role !== "candidate" || !raft.disk.isDurable(raft.term, raft.id) || role.votes.has(raft.id)) return;
  role.votes.set(raft.id, true);
  countVotes(raft, role);
}

function countPreVotes(raft: Raft, { votes }: PreCandidate): void {
  const result = tally(raft.log.membership, (member) => votes.get(member));
  if (result === "won") stand(raft, false);
  else if (result === "lost") raft.becomeFollower(raft.term, noMember);
}

function countVotes(raft: Raft, { votes }: Candidate): void {
  const result = tally(raft.log.membership, (member) => votes.get(member));
  if (result === "won") becomeLeader(raft);
  else if (result === "lost") raft.becomeFollower(raft.term, noMember);
}

function others(raft: Raft): MemberId[] {
  return votersOf(raft.log.membership).filter((member) => member !== raft.id);
}

function lastOf({ log }: Raft) {
  return { lastIndex: log.lastIndex, lastTerm: log.lastTerm };
}
