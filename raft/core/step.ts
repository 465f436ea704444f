import { takePreVoteReply, takeVoteReply } from "./candidate.ts";
import { hearLeader, takeAppend, takeHeartbeat, takeSnapshot, takeTimeoutNow } from "./follower.ts";
import { noMember } from "./ids.ts";
import { proposeHere, readHere, takeAccepted, takeHeartbeatReply, takeRejected } from "./leader.ts";
import type {
  Append,
  AppendAccepted,
  AppendRejected,
  Heartbeat,
  HeartbeatReply,
  InstallSnapshot,
  Message,
  Propose,
  ReadIndexRequest,
} from "./message.ts";
import type { Raft } from "./raft.ts";
import { answerPreVote, answerVote } from "./voter.ts";

/**
 * Handles a message. Applies the rule of terms first (thesis §3.3): the member joins a later term, and ignores or
 * answers an earlier one. The message's type decides the rest.
 */
export function step(raft: Raft, message: Message): void {
  if (message.to !== raft.id || message.from === raft.id) return;
  if (message.type === "preVote") return answerPreVote(raft, message);
  if (message.type === "preVoteReply") return takePreVoteReply(raft, message);
  if (message.term > raft.term) {
    if (message.type === "vote" && !message.transfer && raft.hearsLeader) return;
    raft.becomeFollower(message.term, noMember);
  }
  if (message.term < raft.term && !isRequest(message)) return answerLate(raft, message);
  take(raft, message);
}

/** Reports whether a message is meant for the leader, whatever its term. */
function isRequest({ type }: Message): boolean {
  return type === "propose" || type === "readIndex" || type === "proposeReply" || type === "readIndexReply";
}

/**
 * Answers a message of an earlier term, so that a leader or candidate of that term learns of the later one. Ignores late
 * replies.
 */
function answerLate(raft: Raft, message: Message): void {
  const { id, term } = raft;
  switch (message.type) {
    case "append":
    case "heartbeat":
    case "snapshot":
      return raft.send({ type: "heartbeatReply", from: id, to: message.from, term, round: 0 });
    case "vote":
      return raft.send({ type: "voteReply", from: id, to: message.from, term, granted: false });
  }
}

function take(raft: Raft, message: Exclude<Message, { type: "preVote" | "preVoteReply" }>): void {
  switch (message.type) {
    case "vote":
      return answerVote(raft, message);
    case "voteReply":
      return takeVoteReply(raft, message);
    case "append":
      return fromLeader(raft, message, takeAppend);
    case "heartbeat":
      return fromLeader(raft, message, takeHeartbeat);
    case "snapshot":
      return fromLeader(raft, message, takeSnapshot);
    case "timeoutNow":
      return takeTimeoutNow(raft, message);
    case "appendAccepted":
    case "appendRejected":
    case "heartbeatReply":
      return fromPeer(raft, message);
    case "propose":
      return takeProposal(raft, message);
    case "proposeReply":
      raft.outbox.proposalResults.push({ id: message.id, outcome: message.outcome });
      return;
    case "readIndex":
      return takeRead(raft, message);
    case "readIndexReply":
      raft.outbox.readStates.push({ id: message.id, outcome: message.outcome });
  }
}

function fromLeader<M extends Append | Heartbeat | InstallSnapshot>(
  raft: Raft,
  message: M,
  take: (raft: Raft, message: M) => void,
): void {
  hearLeader(raft, message);
  take(raft, message);
}

function fromPeer(raft: Raft, message: AppendAccepted | AppendRejected | HeartbeatReply): void {
  const { role: leader } = raft;
  if (leader.role !== "leader") return;
  const peer = leader.peers.get(message.from);
  if (peer === undefined) return;
  peer.silentTicks = 0;
  switch (message.type) {
    case "appendAccepted":
      return takeAccepted(raft, leader, peer, message);
    case "appendRejected":
      return takeRejected(raft, peer, message);
    case "heartbeatReply":
      return takeHeartbeatReply(raft, leader, peer, message);
  }
}

function takeProposal(raft: Raft, { from, id, data }: Propose): void {
  const { role } = raft;
  const outcome =
    role.role === "leader" ? proposeHere(raft, role, data) : ({ kind: "refused", reason: "noLeader" } as const);
  raft.send({ type: "proposeReply", from: raft.id, to: from, term: raft.term, id, outcome });
}

function takeRead(raft: Raft, { from, id, term }: ReadIndexRequest): void {
  const { role } = raft;
  const reader = { member: from, id };
  const reason = role.role === "leader" ? readHere(raft, role, reader, term) : "noLeader";
  if (reason !== undefined) raft.answerRead(reader, { kind: "refused", reason });
}
