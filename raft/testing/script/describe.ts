import { decodeConfEntry } from "../../core/conf-entry.ts";
import type { Entry } from "../../core/entry.ts";
import type { Index, Term } from "../../core/ids.ts";
import type { Membership } from "../../core/membership.ts";
import type { Message, ProposalOutcome, ReadOutcome } from "../../core/message.ts";
import type { SoftState, Write } from "../../core/ready.ts";

/** Describes a message for a script: one line, with log positions as `index/term`. */
export function describeMessage(message: Message): string {
  return `${message.from} → ${message.to} ${message.type} in term ${message.term}${detailOf(message)}`;
}

export function describeRole({ role, term, leader }: SoftState): string {
  if (role === "follower")
    return leader === 0 ? `waits for a leader in term ${term}` : `follows ${leader} in term ${term}`;
  return `is ${role} in term ${term}`;
}

export function describeWrite({ hardState, entries, snapshot }: Write): string {
  const parts: string[] = [];
  if (snapshot !== undefined) parts.push(`snapshot ${place(snapshot.index, snapshot.term)}`);
  if (entries.length > 0) parts.push(entries.map(describeEntry).join(" "));
  if (hardState !== undefined) parts.push(`term ${hardState.term} vote ${hardState.vote} commit ${hardState.commit}`);
  return parts.join(", ");
}

export function describeEntry({ index, term, kind, data }: Entry): string {
  const what =
    kind === "empty" ? "·" : kind === "normal" ? `"${textOf(data)}"` : describeMembership(membershipIn(data));
  return `${place(index, term)}:${what}`;
}

/** Describes a membership as `(1 2)&(1 3) learners 4 next 2`: new half, old half, learners, and future learners. */
export function describeMembership({ voters, outgoing, learners, learnersNext }: Membership): string {
  const old = outgoing.length === 0 ? "" : `&(${outgoing.join(" ")})`;
  const learning = learners.length === 0 ? "" : ` learners ${learners.join(" ")}`;
  return `(${voters.join(" ")})${old}${learning}${learnersNext.length === 0 ? "" : ` next ${learnersNext.join(" ")}`}`;
}

export function describeOutcome(outcome: ProposalOutcome | ReadOutcome | { kind: "forwarded"; to: number }): string {
  switch (outcome.kind) {
    case "appended":
      return `appended at ${place(outcome.index, outcome.term)}`;
    case "confirmed":
      return `confirmed at ${outcome.index}`;
    case "forwarded":
      return `forwarded to ${outcome.to}`;
    case "refused":
      return `refused: ${outcome.reason}`;
  }
}

export function textOf(data: Uint8Array): string {
  return new TextDecoder().decode(data);
}

function detailOf(message: Message): string {
  switch (message.type) {
    case "preVote":
    case "vote":
      return `, log ends at ${place(message.lastIndex, message.lastTerm)}${"transfer" in message && message.transfer ? ", handed over" : ""}`;
    case "preVoteReply":
    case "voteReply":
      return message.granted ? ": yes" : ": no";
    case "append":
      return ` after ${place(message.prevIndex, message.prevTerm)}: ${message.entries.map(describeEntry).join(" ") || "nothing"}, commit ${message.commit}`;
    case "appendAccepted":
      return ` up to ${message.index}`;
    case "appendRejected":
      return ` at ${message.prevIndex}, try ${place(message.hintIndex, message.hintTerm)}`;
    case "heartbeat":
      return `, commit ${message.commit}, round ${message.round}`;
    case "heartbeatReply":
      return `, round ${message.round}`;
    case "snapshot":
      return ` of ${place(message.snapshot.index, message.snapshot.term)}`;
    case "propose":
      return ` "${textOf(message.data)}"`;
    case "proposeReply":
    case "readIndexReply":
      return `: ${describeOutcome(message.outcome)}`;
    case "timeoutNow":
    case "readIndex":
      return "";
  }
}

function membershipIn(data: Uint8Array): Membership {
  return decodeConfEntry(data).membership;
}

function place(index: Index, term: Term): string {
  return `${index}/${term}`;
}
