import { noMember } from "./ids.ts";
import type { PreVote, Vote } from "./message.ts";
import type { Raft } from "./raft.ts";

/**
 * Answers a pre-vote without changing term, vote or timer (thesis §9.6). Only counts the members it rejected; see
 * `Raft.mayStand`.
 */
export function answerPreVote(raft: Raft, { from, term, lastIndex, lastTerm }: PreVote): void {
  const { role, hearsLeader } = raft;
  const isOlder = !raft.log.isAtMost(lastIndex, lastTerm);
  if (isOlder && !hearsLeader && role.role === "follower") role.olderAsked++;
  const granted = term > raft.term && !hearsLeader && !isOlder;
  raft.send({ type: "preVoteReply", from: raft.id, to: from, term: granted ? term : raft.term, granted });
}

/**
 * Gives one vote per term, to a candidate whose log is at least as new (thesis §3.4, §3.6.1). It does not matter
 * whether this member considers itself a voter, because the candidate's membership may be newer.
 */
export function answerVote(raft: Raft, { from, lastIndex, lastTerm }: Vote): void {
  const free = raft.vote === from || (raft.vote === noMember && raft.leader === noMember);
  const granted = free && raft.log.isAtMost(lastIndex, lastTerm);
  if (granted) {
    raft.giveVote(from);
    if (raft.role.role === "follower") raft.role.elapsedTicks = 0;
  }
  raft.send({ type: "voteReply", from: raft.id, to: from, term: raft.term, granted });
}
